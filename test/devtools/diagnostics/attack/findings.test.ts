import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/devtools/diagnostics/attack/case-result.ts';
import {
  attackCases,
  attackCauses,
  baselineCase,
} from '../../../../src/devtools/diagnostics/attack/case-table.ts';
import type { Cause } from '../../../../src/devtools/diagnostics/attack/causes.ts';
import {
  explains,
  findCauses,
  type JudgedCase,
} from '../../../../src/devtools/diagnostics/attack/findings.ts';

const problems: readonly (Problem | undefined)[] = [
  ...(['accepted', 'lost', 'failed', 'redirected', 'closed', 'late', 'dropped'] as const),
  undefined,
];
const ids: readonly string[] = attackCases.map(({ id }) => id);

/** The findings about a receiver that fails these cases and no other. */
function findingsOf(failures: Readonly<Record<string, Problem>>) {
  const unknown = Object.keys(failures).filter((id) => !ids.includes(id));
  expect(unknown).toEqual([]);
  return findCauses(
    attackCases.map(({ id, what, expected, causes }) => {
      const problem = failures[id];
      const result = { id, what, expected, causes, answered: '200' };
      return problem === undefined
        ? { ...result, verdict: 'ok' as const }
        : { ...result, verdict: 'broken' as const, advice: `about ${id}`, problem };
    }),
  );
}

describe('the findings of an attack', () => {
  it.each<[string, Readonly<Record<string, Problem>>, readonly string[]]>([
    ['nothing', {}, []],
    [
      'a part of the body that is not verified',
      { 'altered-amount': 'accepted', 'altered-address': 'accepted' },
      ['signs-a-part'],
    ],
    [
      'authentic deliveries that are refused later',
      { repeated: 'lost', 'authentic-large': 'lost', 'authentic-old': 'lost' },
      ['refuses-authentic'],
    ],
    ['no answer, often', { unsigned: 'late', forged: 'late', 'wrong-type': 'late' }, ['does-not-answer']],
    ['no answer, once', { 'not-json': 'late' }, ['not-json']],
    [
      'two causes',
      { 'key-partner-alone': 'accepted', 'signature-last-digit': 'accepted', 'signature-half': 'accepted' },
      ['compares-prefix', 'key-partner-alone'],
    ],
    [
      'no prefix where both ends may be wrong',
      { 'signature-first-digit': 'accepted', 'signature-last-digit': 'accepted' },
      ['signature-first-digit', 'signature-last-digit'],
    ],
    [
      'a check that fails open',
      { 'signature-not-a-digest': 'accepted', 'signature-empty': 'accepted' },
      ['fails-open'],
    ],
    [
      'no check that fails open where a wrong digit passes too',
      { 'signature-not-a-digest': 'accepted', 'signature-first-digit': 'accepted' },
      ['signature-first-digit', 'signature-not-a-digest'],
    ],
    [
      '5xx for odd signatures',
      { unsigned: 'failed', 'signature-not-ascii': 'failed' },
      ['fails-on-odd-signature'],
    ],
  ])('name %s', (_, failures, expected) => {
    expect(findingsOf(failures).map(({ id }) => id)).toEqual(expected);
  });

  it('are shown by cases that their cause can explain', () => {
    const wrong = Object.entries<Cause>(attackCauses).flatMap(([id, cause]) =>
      Object.entries(cause.shownBy ?? {}).flatMap(([outcome, names]) =>
        [baselineCase, ...attackCases].filter((probe) => {
          // Sound: the outcomes of a failure are its problems.
          const problem = outcome === 'other' ? undefined : (outcome as Problem);
          const failure = { ...probe, answered: '200', verdict: 'broken' as const, problem };
          return names !== 'every case' && names.includes(probe.id) && !explains(id, cause, failure);
        }),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('name each failed case once, whatever failed, the worst first', () => {
    const result = fc.record({
      verdict: fc.constantFrom('ok' as const, 'weak' as const, 'broken' as const, 'skipped' as const),
      problem: fc.constantFrom(...problems),
    });
    fc.assert(
      fc.property(fc.array(result, { minLength: ids.length, maxLength: ids.length }), (given) => {
        const results: JudgedCase[] = attackCases.map(({ id, what, expected, causes }, index) => {
          const { verdict = 'ok', problem } = given[index] ?? {};
          return { id, what, expected, causes, answered: '200', verdict, problem, advice: 'what to do' };
        });
        const findings = findCauses(results);
        const failed = results.filter(({ verdict }) => verdict === 'weak' || verdict === 'broken');
        expect(findings.flatMap(({ cases }) => cases).sort()).toEqual(failed.map(({ id }) => id).sort());
        for (const { verdict, cases } of findings) {
          const isBroken = failed.some((each) => cases.includes(each.id) && each.verdict === 'broken');
          expect(verdict).toBe(isBroken ? 'broken' : 'weak');
        }
        const verdicts = findings.map(({ verdict }) => verdict);
        expect(verdicts).toEqual(verdicts.toSorted());
      }),
      { numRuns: 50 },
    );
  });
});
