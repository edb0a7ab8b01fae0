import type { CheckResult } from '../check-result.ts';
import type { AttackResult } from './attack-case.ts';
import type { CaseId } from './case-table.ts';
import { alteredCauses } from './cases/altered.ts';
import { authenticCauses } from './cases/authentic.ts';
import { firstCauses } from './cases/baseline.ts';
import { bodyCauses } from './cases/bodies.ts';
import { contextCauses } from './cases/contexts.ts';
import { forgedCauses, forgeryCauses, verifiedCauses } from './cases/forgeries.ts';
import { handlingCauses } from './cases/handled-once.ts';
import { otherShapeCauses } from './cases/other-shapes.ts';
import { limitCauses } from './cases/refusals-of-service.ts';
import { refusedRepetitionCauses, secondEffectCauses } from './cases/repetition.ts';
import { requestCauses } from './cases/request-forms.ts';
import { comparisonCauses, signatureCauses } from './cases/signatures.ts';
import { transportCauses } from './cases/transport.ts';
import { keyCauses } from './cases/wrong-keys.ts';
import type { Cause, CauseTable, Signs } from './cause.ts';

/** A fault of a receiver, which one case or many show. */
export interface AttackFinding {
  /**
   * Stays the same between versions: `re-serialises`, or the id of the one case that shows it. An anchor of
   * docs/details/attack-faults.md.
   */
  readonly id: string;
  /** The fault, in one line: `compares only the beginning of a signature`. */
  readonly summary: string;
  /** The worst verdict of its cases. */
  readonly verdict: 'weak' | 'broken';
  /** The ids of the cases that show it. */
  readonly cases: readonly string[];
  /** What to do. */
  readonly advice: string;
  /** How often its first case failed; at least once. */
  readonly seen: number;
  /** How often its first case was tried: a finding is repeated before it is stated. */
  readonly tried: number;
}

/** A case, its result, and how it went wrong. */
export type JudgedCase = AttackResult & Pick<CheckResult, 'problem' | 'fault'> & { readonly id: CaseId };

/** The fewest causes that explain all results that are weak or broken, the worst first. */
export function findCauses(results: readonly JudgedCase[]): readonly AttackFinding[] {
  const findings: AttackFinding[] = [];
  let left = results.filter(isFailed);
  for (const [id, cause] of Object.entries<Cause>(attackCauses)) {
    if (!applies(cause, results)) continue;
    const explained = left.filter((failure) => matches(cause.explains, failure));
    if (explained.length === 0) continue;
    left = left.filter((failure) => !explained.includes(failure));
    // The case that shows it comes first: it has the words, and is the one that is repeated.
    const shown = explained.filter((failure) => matches(cause.shownBy ?? cause.explains, failure));
    const cases = [...shown, ...explained.filter((failure) => !shown.includes(failure))];
    findings.push(finding(id, cause.summary ?? wordsFor(cases), cases, cause.advice));
  }
  for (const failure of left) findings.push(finding(failure.id, summaryOf(failure), [failure]));
  return findings.toSorted((first, second) => rank(first) - rank(second));
}

type FailedCase = JudgedCase & { readonly verdict: 'weak' | 'broken' };

function isFailed(result: JudgedCase): result is FailedCase {
  return result.verdict === 'weak' || result.verdict === 'broken';
}

function applies(
  { explains, shownBy = explains, atLeast = 1, alongside, unless = {} }: Cause,
  results: readonly JudgedCase[],
): boolean {
  const count = (signs: Signs) => results.filter((result) => matches(signs, result)).length;
  if (alongside !== undefined && count(alongside) === 0) return false;
  return count(unless) === 0 && count(shownBy) >= atLeast;
}

function matches(signs: Signs, result: JudgedCase): boolean {
  if (result.verdict === 'skipped') return false;
  const outcome = isFailed(result) ? (result.problem ?? 'other') : 'ok';
  const ids = signs[outcome];
  return ids === 'every case' || (ids?.includes(result.id) ?? false);
}

function rank({ verdict }: AttackFinding): number {
  return verdict === 'broken' ? 0 : 1;
}

function finding(id: string, summary: string, cases: readonly FailedCase[], advice?: string): AttackFinding {
  const worst = cases.find(({ verdict }) => verdict === 'broken') ?? cases[0];
  return Object.freeze({
    id,
    summary,
    verdict: worst?.verdict ?? 'weak',
    cases: cases.map((failure) => failure.id),
    advice: advice ?? worst?.advice ?? '',
    seen: 1,
    tried: 1,
  });
}

function wordsFor([first]: readonly FailedCase[]): string {
  return first === undefined ? '' : summaryOf(first);
}

function summaryOf({ fault, problem, what, answered, id }: FailedCase): string {
  if (fault !== undefined) return fault;
  switch (problem) {
    case 'accepted':
      return `accepts ${what}`;
    case 'lost':
      return `refuses ${what}`;
    case 'dropped':
      return `drops ${what}`;
    case 'repeated':
      return `acts more than once on ${what}`;
    case 'retried':
      return `acts again when it did not answer 2xx to ${what}`;
    case 'forgotten':
      return `loses what it failed at first: ${what}`;
    case 'acted':
      return `acts on what it refuses: ${what}`;
    case 'failed':
    case 'redirected':
      return `answers ${answered} to ${what}`;
    case 'closed':
      return `drops the connection after ${what}`;
    case 'late':
      return `does not answer ${what}`;
    case undefined:
      return id;
  }
}

/**
 * Every cause, from the tables beside the cases. In this order: the cause that explains most comes first. An id that no
 * case has does not compile.
 */
export const attackCauses = {
  ...firstCauses,
  ...forgedCauses,
  ...limitCauses,
  ...refusedRepetitionCauses,
  ...secondEffectCauses,
  ...forgeryCauses,
  ...comparisonCauses,
  ...verifiedCauses,
  ...alteredCauses,
  ...keyCauses,
  ...signatureCauses,
  ...bodyCauses,
  ...authenticCauses,
  ...otherShapeCauses,
  ...contextCauses,
  ...handlingCauses,
  ...transportCauses,
  ...requestCauses,
} satisfies CauseTable & Readonly<Record<string, Cause<CaseId>>>;

/** The id of a finding: of a cause, or of the one case that shows it. */
export type FindingId = keyof typeof attackCauses | CaseId;
