import type { Finding } from '../finding.ts';
import type { AttackResult } from './attack-case.ts';
import type { CaseResult, Problem } from './case-result.ts';
import type { CaseId } from './case-table.ts';
import { type CaseOutcome, type Cause, type CauseId, causeTable, type Signs } from './causes.ts';

/** A fault of a receiver, which one case or many show. Its id is an anchor of docs/details/attack-faults.md. */
export interface AttackFinding extends Finding {
  /** How bad it is. */
  readonly verdict: 'weak' | 'broken';
  /** What to do. */
  readonly advice: string;
  /** The ids of the cases that show it. */
  readonly cases: readonly string[];
}

/** The id of a finding: of a cause, or of the one case that shows it. */
export type FindingId = CauseId | CaseId;

/** A case, its result, and how it went wrong. */
export interface JudgedCase extends AttackResult, Pick<CaseResult, 'problem' | 'fault'> {
  readonly id: CaseId;
  readonly causes?: readonly CauseId[] | undefined;
}

/** The fewest causes that explain all results that are weak or broken, the worst first. */
export function findCauses(results: readonly JudgedCase[]): readonly AttackFinding[] {
  // Sound: the table is a literal, so it has no other keys.
  const causes = Object.entries(causeTable) as [CauseId, Cause][];
  const shown = causes.filter(([id, cause]) => isShown(id, cause, results));
  const ids = causes.map(([id]) => id as string);
  const rankOf = ({ id }: AttackFinding) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  const failures = results.filter(isFailed);
  const groups = Map.groupBy(
    failures,
    (failure): FindingId => shown.find(([id, cause]) => explains(id, cause, failure))?.[0] ?? failure.id,
  );
  return [...groups]
    .map(([id, cases]) => toFinding(id, cases))
    .toSorted((first, second) => badness(first) - badness(second) || rankOf(first) - rankOf(second));
}

type FailedCase = JudgedCase & { readonly verdict: 'weak' | 'broken' };

function isFailed(result: JudgedCase): result is FailedCase {
  return result.verdict === 'weak' || result.verdict === 'broken';
}

function outcomeOf(result: JudgedCase): CaseOutcome | undefined {
  if (result.verdict === 'skipped') return undefined;
  return isFailed(result) ? (result.problem ?? 'other') : 'ok';
}

/** Whether a cause can explain the failure of a case. */
export function explains(
  id: string,
  { everywhere = [], named = ['accepted'] }: Cause,
  result: JudgedCase,
): boolean {
  const outcome = outcomeOf(result);
  if (outcome === undefined) return false;
  const isNamed = result.id === id || (result.causes?.some((name) => name === id) ?? false);
  return everywhere.includes(outcome) || (isNamed && named.includes(outcome));
}

function isShown(id: string, cause: Cause, results: readonly JudgedCase[]): boolean {
  const { shownBy, atLeast = 1, alongside, unless = {} } = cause;
  const count = (signs: Signs) => results.filter((result) => matches(signs, result)).length;
  const shown =
    shownBy === undefined ? results.filter((result) => explains(id, cause, result)).length : count(shownBy);
  if (alongside !== undefined && count(alongside) === 0) return false;
  return shown >= atLeast && count(unless) === 0;
}

function matches(signs: Signs, result: JudgedCase): boolean {
  const outcome = outcomeOf(result);
  const ids = outcome && signs[outcome];
  return ids === 'every case' || (ids?.includes(result.id) ?? false);
}

function badness({ verdict }: AttackFinding): number {
  return verdict === 'broken' ? 0 : 1;
}

function causeOf(id: string): Cause | undefined {
  return Object.hasOwn(causeTable, id) ? causeTable[id as CauseId] : undefined;
}

function toFinding(id: FindingId, failures: readonly FailedCase[]): AttackFinding {
  const cause = causeOf(id);
  // The case that shows it comes first: it has the words.
  const isSign = (failure: FailedCase) => cause?.shownBy === undefined || matches(cause.shownBy, failure);
  const cases = [...failures.filter(isSign), ...failures.filter((failure) => !isSign(failure))];
  const worst = cases.find(({ verdict }) => verdict === 'broken') ?? cases[0];
  return Object.freeze({
    id,
    what: cause?.what ?? (cases[0] === undefined ? id : describe(cases[0])),
    verdict: worst?.verdict ?? 'weak',
    cases: cases.map((failure) => failure.id),
    advice: cause?.advice ?? worst?.advice ?? '',
  });
}

/** What a receiver does that fails a case without a `fault` of its own. */
const failing: Readonly<Record<Problem, string>> = {
  accepted: 'accepts',
  lost: 'refuses',
  dropped: 'drops',
  repeated: 'acts more than once on',
  retried: 'acts again when it did not answer 2xx to',
  forgotten: 'loses after a failure:',
  acted: 'refuses, and acts on,',
  failed: 'answers 5xx to',
  redirected: 'answers with a redirect to',
  closed: 'drops the connection after',
  late: 'does not answer',
  banned: 'refuses authentic deliveries after many forgeries, at the latest after',
};

function describe({ fault, problem, what, id }: FailedCase): string {
  return fault ?? (problem === undefined ? id : `${failing[problem]} ${what}`);
}
