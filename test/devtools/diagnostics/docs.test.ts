import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  attackCases,
  attackCauses,
  baselineCase,
} from '../../../src/devtools/diagnostics/attack/case-table.ts';
import type { Cause } from '../../../src/devtools/diagnostics/attack/causes.ts';
import { explains } from '../../../src/devtools/diagnostics/attack/findings.ts';
import { attackPage } from '../../../tools/documents/attack-page.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/details/attack-faults.md'), 'utf8');
const cases = [baselineCase, ...attackCases];

describe('docs/details/attack-faults.md', () => {
  it('is what npm run docs:tables writes', () => {
    expect(page).toBe(attackPage());
  });

  it('has one address for every finding: each cause, and each case by itself', () => {
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, id]) => id);
    const anchors = [...page.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
    const ids = new Set([...Object.keys(attackCauses), ...cases.map(({ id }) => id)]);
    expect([...headings, ...anchors].toSorted()).toEqual([...ids].toSorted());
  });
});

describe('the causes of the attack', () => {
  it('are shown by cases that each cause can explain', () => {
    const wrong = Object.entries<Cause>(attackCauses).flatMap(([id, cause]) =>
      Object.values(cause.shownBy ?? {}).flatMap((names) =>
        names === 'every case'
          ? []
          : names.filter((name) => !canExplain(id, cause, name)).map((name) => [id, name]),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

const problems = [
  'accepted',
  'lost',
  'dropped',
  'repeated',
  'retried',
  'forgotten',
  'acted',
  'failed',
  'redirected',
  'closed',
  'late',
  'banned',
  undefined,
] as const;

/** Whether the cause explains a failure of the case, in some outcome. */
function canExplain(id: string, cause: Cause, name: string): boolean {
  const probe = cases.find((probe) => probe.id === name) ?? expect.unreachable(name);
  return problems.some((problem) =>
    explains(id, cause, { ...probe, answered: '', verdict: 'broken', problem }),
  );
}
