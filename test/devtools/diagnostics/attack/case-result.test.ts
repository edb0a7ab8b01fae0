import { describe, expect, it } from 'vitest';
import {
  type CaseResult,
  skipped,
  worstOf,
} from '../../../../src/devtools/diagnostics/attack/case-result.ts';

const ok: CaseResult = { verdict: 'ok', answered: '401' };
const weak: CaseResult = { verdict: 'weak', answered: '302', advice: 'Answer 401.' };
const broken: CaseResult = { verdict: 'broken', answered: '200', advice: 'Verify.', problem: 'accepted' };

describe('the worst of several results', () => {
  it.each<[string, readonly CaseResult[], CaseResult]>([
    ['broken before weak, with its advice', [ok, weak, broken], broken],
    ['weak before skipped', [skipped('no secret'), weak, ok], weak],
    ['skipped before ok', [ok, skipped('no secret')], skipped('no secret')],
    ['ok alone', [ok], ok],
  ])('is %s', (_, results, worst) => {
    expect(worstOf(results)).toEqual(worst);
  });

  it('names each answer that is as bad, once', () => {
    const alike = [broken, ok, { ...broken, answered: '202', advice: 'Other.' }, broken];
    expect(worstOf(alike)).toEqual({ ...broken, answered: '200; 202' });
  });

  it('is skipped if there is nothing to check', () => {
    expect(worstOf([]).verdict).toBe('skipped');
  });
});
