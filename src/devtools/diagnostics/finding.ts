/**
 * - `ok`: nothing to do.
 * - `weak`: it works, or nothing is lost yet, but follow the `advice`.
 * - `broken`: it does not work, or is not safe.
 * - `skipped`: not known; `what` says why.
 */
export type Verdict = 'ok' | 'weak' | 'broken' | 'skipped';

/** One thing that a tool found: about a signature, a folder of samples, a receiver, the surroundings. */
export interface Finding<Id extends string = string> {
  /** Stable between versions: branch on it. */
  readonly id: Id;
  /** How bad it is. */
  readonly verdict: Verdict;
  /** The finding, as a sentence without secrets. */
  readonly what: string;
  /** What to do; absent if there is nothing. */
  readonly advice?: string | undefined;
}
