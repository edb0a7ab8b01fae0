import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import type { Verdict } from '../finding.ts';
import type { PostAnswer } from '../post-request.ts';
import type { CaseResult, Problem } from './case-result.ts';
import type { CauseId } from './causes.ts';
import type { Effects } from './effect-records.ts';
import type { OrderWatch } from './ledger.ts';
import type { ProbeRequest, Probes } from './probes.ts';

export interface Attack {
  readonly credentials: PartnerCredentials;
  readonly probes: Probes;
  post(delivery: ProbeRequest): Promise<PostAnswer>;
  /** The receiver's records of the orders; `undefined` if the owner gives none. */
  readonly handled: Effects | undefined;
  /** Judges the effects on the one order that is given, after each case. */
  readonly watchOrder: OrderWatch;
  /** The names of the events that must have an effect. */
  readonly handles: readonly string[];
  /** The authentic delivery that began the attack. */
  readonly baseline: string;
  readonly signal: AbortSignal | undefined;
  /** Rejects with the reason of the signal. */
  pause(ms: number): Promise<void>;
}

export interface AttackCase extends Pick<AttackResult, 'what' | 'expected'> {
  /** What to do if it fails. */
  readonly advice: string;
  run(attack: Attack): Promise<CaseResult>;
  /** The causes that can explain its failure, beside those of every case. */
  readonly causes?: readonly CauseId[] | undefined;
  /** Whether `quick` leaves it out. @default false */
  readonly isSlow?: boolean | undefined;
  /** What a receiver does that fails it. @default words for the problem, and the deliveries */
  readonly faults?: Readonly<Partial<Record<Problem, string>>> | undefined;
}

/** Cases by their ids. */
export type CaseTable = Readonly<Record<string, AttackCase>>;

/** The result of one case of {@link attackReceiver}. */
export interface AttackResult {
  /** Stable between versions: `unsigned`, `altered-amount`. */
  readonly id: string;
  /** The deliveries that were sent. */
  readonly what: string;
  /** The answer of a sound receiver. */
  readonly expected: string;
  /** The answer of this receiver, or why nothing was sent. Never its text, which may hold anything. */
  readonly answered: string;
  /**
   * - `ok`: answered as a sound receiver does.
   * - `weak`: no forgery was accepted and no authentic delivery lost, but follow the `advice`.
   * - `broken`: a forgery was accepted, an authentic delivery lost, or the receiver failed or hung.
   * - `skipped`: not tested; `answered` says why.
   */
  readonly verdict: Verdict;
  /** What to do; absent for `ok`. */
  readonly advice?: string | undefined;
}
