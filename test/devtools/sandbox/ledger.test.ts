import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assumptions } from '../../../src/deployment/assumptions.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { orderScenarios } from '../../../src/devtools/sandbox/service/order-scenarios.ts';
import { eventFaults } from '../../../src/devtools/sandbox/settings/event-faults.ts';
import { requestFaults } from '../../../src/devtools/sandbox/settings/faults.ts';

const page = readFileSync(new URL('../../../docs/details/sandbox.md', import.meta.url), 'utf8');
const [, table = ''] = page.split('| ledger | options | faults |\n|---|---|---|\n');
const rows = (table.split('\n\n')[0] ?? '').trimEnd().split('\n');
const plays = rows.map((row) => {
  const [, point = '', options = '', faults = ''] = row.split('|');
  return { id: namesIn(point)[0], options: namesIn(options), faults: namesIn(faults), row };
});

describe('the table of every open point in docs/details/sandbox.md', () => {
  it('has the points of the ledger, each with an option, a fault, or why there is none', () => {
    expect(plays.map(({ id }) => id)).toEqual(assumptions.map(({ id }) => id));
    const empty = plays.filter(({ options, faults }) => options.length + faults.length === 0);
    expect(empty.filter(({ row }) => !/\| none: \w/.test(row))).toEqual([]);
  });

  it('names options that there are', () => {
    for (const name of plays.flatMap(({ options }) => options)) {
      const [option = '', member] = name.split('.');
      const value = member === undefined ? undefined : { [member]: undefined };
      expect(() => createSandbox({ [option]: value }), name).not.toThrow();
    }
  });

  it('names every fault', () => {
    const named = new Set(plays.flatMap(({ faults }) => faults));
    expect([...named].sort()).toEqual([...Object.keys(requestFaults), ...Object.keys(eventFaults)].sort());
  });
});

it('docs/details/sandbox.md describes every fault and every scenario', () => {
  const names = [requestFaults, eventFaults, orderScenarios].flatMap((table) => Object.keys(table));
  const [described = ''] = page.split('## Every open point');
  expect(names.filter((name) => !described.includes(`\`${name}\``))).toEqual([]);
});

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}
