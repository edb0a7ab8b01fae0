import { parseArgs } from 'node:util';

/** How long a searcher searches, and from which seed. */
export interface SearchSize {
  /** Without a time: how many it plays. */
  readonly rounds: number;
  /** Printed, so that what fails can be played again. */
  readonly seed: number;
  /** Milliseconds, if a time was given: then that alone decides. */
  readonly ms: number | undefined;
  /** Whether the time is over, or this many were enough. */
  readonly isOver: (done: number) => boolean;
}

/** Flags that every searcher takes. */
export const sizeFlags = {
  rounds: { type: 'string' },
  seed: { type: 'string' },
  minutes: { type: 'string' },
  seconds: { type: 'string' },
} as const;

/** Reads `--minutes 2`, `--seconds 30`, `--rounds 500` and `--seed 7` of a searcher that has no other flags. */
export function searchSize(defaults: { readonly rounds: number }): SearchSize {
  return sizeOf(parseArgs({ options: sizeFlags }).values, defaults);
}

/** The clock begins here. */
export function sizeOf(
  values: { readonly [Flag in keyof typeof sizeFlags]?: string | undefined },
  defaults: { readonly rounds: number },
): SearchSize {
  const { minutes, seconds } = values;
  const ms =
    minutes === undefined && seconds === undefined
      ? undefined
      : number('minutes', minutes, 0) * 60_000 + number('seconds', seconds, 0) * 1_000;
  const rounds = number('rounds', values.rounds, defaults.rounds);
  const seed = number('seed', values.seed, Date.now() % 1_000_000_000);
  const end = performance.now() + (ms ?? 0);
  return {
    ...{ ms, rounds, seed },
    isOver: (done) => (ms === undefined ? done >= rounds : performance.now() >= end),
  };
}

function number(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (/^\d{1,9}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new Error(`--${flag} must be a number.`);
}
