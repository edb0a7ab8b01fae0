import type { RetiredGeneration, RotationState } from './rotation-state.ts';
import { withConfirmed } from './rotation-steps.ts';

export interface KeyMatchesOptions {
  /** Changes the stored state, unless `next` returns `undefined`. */
  readonly change: (next: (state: RotationState) => RotationState | undefined) => Promise<void>;
  readonly now: () => number;
  /** Milliseconds between two stored matches of the same keys. */
  readonly recordEveryMs: number;
}

/** Stores which keys deliveries have matched. When storing fails, the next delivery tries again. */
export function keyMatches({ change, now, recordEveryMs }: KeyMatchesOptions) {
  const recordedAt = new Map<number, number>();
  const confirmedAt = new Map<number, number>();

  async function store(
    times: Map<number, number>,
    number: number,
    next: (state: RotationState, at: number) => RotationState | undefined,
  ): Promise<void> {
    const at = now();
    // Before the first await, so that one of many deliveries stores it.
    times.set(number, at);
    try {
      await change((state) => next(state, at));
    } catch (error) {
      times.delete(number);
      throw error;
    }
  }

  return {
    /** Whether this process has stored that a delivery matched these keys, or is about to. */
    isConfirmed: (number: number): boolean => confirmedAt.has(number),

    /** Confirms new keys: they were not typed wrong. */
    confirm: (number: number) => store(confirmedAt, number, (state, at) => withConfirmed(state, number, at)),

    /** Records a match of replaced keys, so that they keep verifying. */
    async record({ number, matchedAt }: RetiredGeneration): Promise<void> {
      const isRecent = (time: number | undefined) =>
        time !== undefined && Math.abs(now() - time) < recordEveryMs;
      if (isRecent(recordedAt.get(number) ?? matchedAt)) return;
      await store(recordedAt, number, (state, at) => {
        const stored = state.retired.find((generation) => generation.number === number);
        if (stored === undefined || isRecent(stored.matchedAt)) return undefined;
        const matched = { ...stored, matchedAt: at };
        return { ...state, retired: state.retired.map((keys) => (keys === stored ? matched : keys)) };
      });
    },
  };
}
