import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assumptions } from '../../../src/deployment/assumptions.ts';
import { orderScenarios } from '../../../src/devtools/sandbox/service/order-scenarios.ts';
import { eventFaults } from '../../../src/devtools/sandbox/settings/event-faults.ts';
import { requestFaults } from '../../../src/devtools/sandbox/settings/faults.ts';
import { readSandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { type LedgerPlay, ledgerOptions } from './ledger-options.ts';

const plays: [string, LedgerPlay][] = Object.entries(ledgerOptions);

describe('the ledger, in the sandbox', () => {
  it('can be played point by point, or says why not', () => {
    expect(plays.map(([id]) => id)).toEqual(assumptions.map(({ id }) => id));
  });

  it.each(plays)('%s names options and faults that there are', (_, play) => {
    if ('unplayable' in play) {
      expect(play.unplayable).not.toBe('');
      return;
    }
    const { options = [], faults = [] } = play;
    expect(options.length + faults.length).toBeGreaterThan(0);
    expect(options.filter((name) => !(name in readSandboxOptions({})))).toEqual([]);
    const known = [...Object.keys(requestFaults), ...Object.keys(eventFaults)];
    expect(faults.filter((fault) => !known.includes(fault))).toEqual([]);
  });

  it('uses every fault', () => {
    const used = plays.flatMap(([, play]) => ('unplayable' in play ? [] : (play.faults ?? [])));
    const all = [...Object.keys(requestFaults), ...Object.keys(eventFaults)];
    expect(all.filter((fault) => !used.some((one) => one === fault))).toEqual([]);
  });

  it('is the table in docs/details/sandbox.md', () => {
    const page = readFileSync(new URL('../../../docs/details/sandbox.md', import.meta.url), 'utf8');
    const [, table = ''] = page.split('| ledger | options | faults |\n|---|---|---|\n');
    expect(table.split('\n\n')[0]?.trimEnd().split('\n')).toEqual(plays.map(rowOf));
  });
});

it('the docs name every fault and every scenario', () => {
  const names = [requestFaults, eventFaults, orderScenarios].flatMap((table) => Object.keys(table));
  const page = readFileSync(new URL('../../../docs/details/sandbox.md', import.meta.url), 'utf8');
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

function rowOf([id, play]: [string, LedgerPlay]): string {
  if ('unplayable' in play) return `| \`${id}\` | none: ${play.unplayable} | |`;
  const cells = [play.options ?? [], play.faults ?? []].map((names) =>
    names.length === 0 ? ' ' : ` ${names.map((name) => `\`${name}\``).join(', ')} `,
  );
  return `| \`${id}\` |${cells.join('|')}|`;
}
