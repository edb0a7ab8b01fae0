import type { Verdict } from '../finding.ts';

/** How a case ended. */
export interface CaseResult {
  /** `skipped` if nothing was learnt. */
  readonly verdict: Verdict;
  /** The answer of the receiver, or why nothing was sent. */
  readonly answered: string;
  /** What to do. @default the advice of the case */
  readonly advice?: string | undefined;
  /** How the receiver failed, if it did in one of the ways that many cases share. */
  readonly problem?: Problem | undefined;
  /** What the receiver does, as in {@link AttackFinding.what}. @default the words of the case for the problem */
  readonly fault?: string | undefined;
}

/**
 * - `accepted`: what it must refuse.
 * - `lost`: it refused an authentic delivery.
 * - `dropped`: it acknowledged an authentic delivery, and neither handled nor kept it.
 * - `repeated`: it acted more than once on one event.
 * - `retried`: it acted on an event without answering 2xx, and again when the event was repeated.
 * - `forgotten`: it acknowledged the repetition of such an event, and never acted on it.
 * - `acted`: it acted on what it refused.
 * - `failed`, `redirected`: it answered 5xx, or 3xx, where it must refuse.
 * - `closed`, `late`: it did not answer.
 * - `banned`: after many forgeries it refuses authentic deliveries, too.
 */
export type Problem =
  | 'accepted'
  | 'lost'
  | 'dropped'
  | 'repeated'
  | 'retried'
  | 'forgotten'
  | 'acted'
  | 'failed'
  | 'redirected'
  | 'closed'
  | 'late'
  | 'banned';

export function skipped(answered: string): CaseResult {
  return { verdict: 'skipped', answered };
}

/** The worst of several results, with the answers of all that are as bad. */
export function worstOf(results: readonly CaseResult[]): CaseResult {
  for (const verdict of ['broken', 'weak', 'skipped', 'ok'] as const) {
    const alike = results.filter((result) => result.verdict === verdict);
    const [first] = alike;
    if (first === undefined) continue;
    return { ...first, answered: [...new Set(alike.map(({ answered }) => answered))].join('; ') };
  }
  return skipped('There is nothing to check.');
}
