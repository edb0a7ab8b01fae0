import { type LearntDeployment, mergeLearnt } from '../../../deployment/learnt-deployment.ts';
import { printableText } from '../../../internal/printable-text.ts';

/** What one sample says of a row. */
export interface RowObservation {
  /** `open`: it contradicts other samples, so that nothing is settled. */
  readonly speaks: 'for' | 'against' | 'open';
  /** Names, types, or one of the few values that may be shown. */
  readonly found: string;
  /** What to set, where a deployment has that as data. */
  readonly set?: LearntDeployment | undefined;
}

export const speaksFor = (found: string): RowObservation => ({ speaks: 'for', found });
export const speaksAgainst = (found: string, set?: LearntDeployment): RowObservation => ({
  speaks: 'against',
  found,
  set,
});

/** How much evidence a row needs. */
export interface RowRule {
  /** The number of different samples that prove it. */
  readonly least: number;
  /** The number of samples that refute it: 1 for a fact of one sample, 3 or more for a habit. */
  readonly leastAgainst: number;
  /** Each of these must have been found before it is proven. */
  readonly each?: readonly string[];
  /** The number of different values that prove it. @default 1 */
  readonly leastFound?: number;
  /** The most different things against it; with more, a person has to decide. @default 64 */
  readonly mostFound?: number;
  /** Which call or wait would show it. */
  readonly howToSee: string;
}

/** Where a sample comes from. */
export interface RowSample {
  readonly since: string | undefined;
  readonly digest: string;
}

interface Evidence {
  count: number;
  since: string | undefined;
  digest: string | undefined;
  /** What was found, with what to set for it. Limited: a service may write something new each time. */
  readonly found: Map<string, LearntDeployment | undefined>;
}

export interface RowTally {
  readonly for: Evidence;
  readonly against: Evidence;
  readonly open: Evidence;
}

const maxFound = 64;
const maxShown = 5;

export function newTally(): RowTally {
  const none = (): Evidence => ({ count: 0, since: undefined, digest: undefined, found: new Map() });
  return { for: none(), against: none(), open: none() };
}

export function note(tally: RowTally, observed: RowObservation, { since, digest }: RowSample): void {
  const evidence = tally[observed.speaks];
  evidence.count++;
  evidence.since ??= since;
  evidence.digest ??= digest;
  const { found, set } = observed;
  if (found === '' || (evidence.found.size >= maxFound && !evidence.found.has(found))) return;
  evidence.found.set(found, set ?? evidence.found.get(found));
}

/** What the samples of a row come to. */
export interface Conclusion {
  readonly verdict: 'proven' | 'refuted' | 'not-seen';
  readonly samples: number;
  readonly since?: string;
  readonly found: readonly string[];
  readonly set?: LearntDeployment;
  readonly override?: string;
  readonly howToSee?: string;
  readonly digest?: string;
}

export function conclude(rule: RowRule, tally: RowTally, override: string): Conclusion {
  const { least, leastAgainst, each = [], leastFound = 1, howToSee } = rule;
  if (tally.against.count >= leastAgainst && tally.open.count === 0) {
    const set = setOf(tally.against, rule.mostFound);
    return { verdict: 'refuted', ...shown(tally.against), ...(set ? { set } : { override }) };
  }
  const { count, found } = tally.for;
  const isEnough = count >= least && found.size >= leastFound && each.every((one) => found.has(one));
  const isProven = isEnough && tally.against.count === 0 && tally.open.count === 0;
  return { verdict: isProven ? 'proven' : 'not-seen', ...shown(tally.for), ...(!isProven && { howToSee }) };
}

/** `undefined` if a person has to decide about a part of it, or if two parts contradict each other. */
function setOf({ found }: Evidence, most = maxFound - 1): LearntDeployment | undefined {
  const sets = [...found.values()].filter((set) => set !== undefined);
  return sets.length > 0 && sets.length === found.size && found.size <= most ? mergeLearnt(sets) : undefined;
}

export function shown({ count, since, digest, found }: Evidence) {
  return {
    samples: count,
    found: [...found.keys()].slice(0, maxShown).map((text) => printableText(text.slice(0, 200))),
    ...(since !== undefined && { since }),
    ...(digest !== undefined && { digest }),
  };
}
