import { do_not_optimize } from 'mitata';

/** Work by name; what it returns is consumed, so that the engine cannot leave it out. */
export type Contenders<Name extends string> = Readonly<Record<Name, () => unknown>>;

export interface Sampling {
  /** Rounds that count. */
  readonly rounds: number;
  /** Rounds before them that only warm up. */
  readonly warmup: number;
  /** Calls that are timed as one, once a round. */
  readonly batch: number;
}

/** The figure of a turn, one entry a round. */
export type Timings<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/**
 * Times one short batch of every contender in every round, each round beginning with another one, so that what
 * disturbs the machine for a while disturbs all of them. (mitata's own `measure` times one contender for long,
 * and reserves 8 MB each time, which sets the collector on whoever comes next.)
 */
export function timeInTurns<Name extends string>(
  contenders: Contenders<Name>,
  { rounds, warmup, batch }: Sampling,
): Timings<Name> {
  const { timings, turns } = makeTurns(contenders, rounds + warmup);
  for (const { name, round } of turns) {
    const time = timeBatch(contenders[name], batch);
    if (round >= warmup) timings[name].push(time);
  }
  return timings;
}

/** The same for work that has to be awaited, and measures itself: in milliseconds, or as it likes. */
export async function measureInTurns<Name extends string>(
  contenders: Readonly<Record<Name, () => Promise<number>>>,
  { rounds, warmup }: Pick<Sampling, 'rounds' | 'warmup'>,
): Promise<Timings<Name>> {
  const { timings, turns } = makeTurns(contenders, rounds + warmup);
  for (const { name, round } of turns) {
    const figure = await contenders[name]();
    if (round >= warmup) timings[name].push(figure);
  }
  return timings;
}

function makeTurns<Name extends string>(contenders: Readonly<Record<Name, unknown>>, rounds: number) {
  // Sound: the names of an object literal are its keys.
  const names = Object.keys(contenders) as Name[];
  const timings = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  const turns = Array.from({ length: rounds }, (_, round) => {
    const first = round % names.length;
    return [...names.slice(first), ...names.slice(0, first)].map((name) => ({ name, round }));
  });
  return { timings, turns: turns.flat() };
}

/** A figure that was taken in every round. */
export interface Estimate {
  /** The median. */
  readonly value: number;
  /** How far the true median may be from it: half of its confidence interval at 95 %. */
  readonly noise: number;
}

/** How many times longer one took than the other in the same round. */
export function ratio(of: readonly number[], against: readonly number[]): Estimate {
  return estimate(of.map((time, round) => time / (against[round] ?? Number.NaN)));
}

/** By the ranks of the values, so it asks nothing of their distribution. */
export function estimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(sorted.length);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.max(0, Math.floor(middle - reach))] ?? Number.NaN;
  const high = sorted[Math.min(sorted.length - 1, Math.ceil(middle + reach))] ?? Number.NaN;
  return { value: median(sorted), noise: (high - low) / 2 };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const lower = sorted[middle - 1] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

function timeBatch(work: () => unknown, batch: number): number {
  const start = performance.now();
  for (let call = 0; call < batch; call++) do_not_optimize(work());
  return performance.now() - start;
}
