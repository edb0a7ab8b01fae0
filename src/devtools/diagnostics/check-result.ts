import type { AssumptionId } from '../../deployment/assumptions.ts';

/**
 * - `ok`: answered as a sound receiver does.
 * - `weak`: no forgery was accepted and no authentic delivery lost, but follow the `advice`.
 * - `broken`: a forgery was accepted, an authentic delivery lost, or the receiver failed or hung.
 * - `skipped`: not tested; `answered` says why.
 */
export type AttackVerdict = 'ok' | 'weak' | 'broken' | 'skipped';

/** The result of a case of the attack, and of a check of the doctor. */
export interface CheckResult {
  readonly verdict: AttackVerdict;
  /** The answer of a receiver, or the finding of the doctor. */
  readonly answered: string;
  /** What to do; absent for `ok`. */
  readonly advice?: string | undefined;
  /** How the receiver failed, if it did in one of the ways that many cases share. */
  readonly problem?: Problem | undefined;
  /** What the receiver does, as in {@link AttackFinding.what}. @default made of the problem and of what was sent */
  readonly fault?: string | undefined;
  readonly assumptions?: readonly AssumptionId[] | undefined;
}

/**
 * - `accepted`: what it must refuse.
 * - `lost`: it refused an authentic delivery.
 * - `dropped`: it acknowledged an authentic delivery, and neither handled nor kept it.
 * - `repeated`: it acted more than once on one event.
 * - `retried`: it acted on an event that it answered with 5xx, 3xx or not at all, and again when the event was repeated.
 * - `forgotten`: it acknowledged the repetition of such an event, and never acted on it.
 * - `acted`: it acted on what it refused.
 * - `failed`, `redirected`: it answered 5xx, or 3xx, where it must refuse.
 * - `closed`, `late`: it did not answer.
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
  | 'late';

export function skipped(answered: string, advice?: string): CheckResult {
  return { verdict: 'skipped', answered, advice };
}

/** The worst of several results, with the answers of all that are as bad. */
export function worstOf(results: readonly CheckResult[]): CheckResult {
  for (const verdict of ['broken', 'weak', 'skipped', 'ok'] as const) {
    const alike = results.filter((result) => result.verdict === verdict);
    const [first] = alike;
    if (first === undefined) continue;
    return { ...first, answered: [...new Set(alike.map(({ answered }) => answered))].join('; ') };
  }
  return skipped('There is nothing to check.');
}
