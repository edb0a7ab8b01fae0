import type { Problem } from '../check-result.ts';

/** How a case ended; `other` is a failure without a problem that many cases share. */
export type CaseOutcome = Problem | 'other' | 'ok';

/** Cases by their outcome. */
export type Signs<Id extends string = string> = {
  readonly [Outcome in CaseOutcome]?: readonly Id[] | 'every case';
};

/** A cause that several cases show. It stands beside the cases that feed it. */
export interface Cause<Id extends string = string> {
  /** @default the fault of the first case that shows it */
  readonly summary?: string;
  /** @default the advice of its worst case */
  readonly advice?: string;
  readonly explains: Signs<Id>;
  /** The outcomes that point to it. @default those that it explains */
  readonly shownBy?: Signs<Id>;
  /** How many of them are needed. @default 1 */
  readonly atLeast?: number;
  /** At least one of these is needed too. */
  readonly alongside?: Signs<Id>;
  /** Outcomes that point to another cause. */
  readonly unless?: Signs<Id>;
}

/** Causes by the ids of their findings. */
export type CauseTable = Readonly<Record<string, Cause>>;
