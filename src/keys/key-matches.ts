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
  const confirmed = new Set<number>();

  return {
    /** Whether this process has stored that a delivery matched these keys, or is about to. */
    isConfirmed: (number: number): boolean => confirmed.has(number),

    /** Confirms new keys: they were not typed wrong. */
    async confirm(number: number): Promise<void> {
      // Before the first await, so that one of many deliveries stores it.
      confirmed.add(number);
      try {
        await change((state) => withConfirmed(state, number, now()));
      } catch (error) {
        confirmed.delete(number);
        throw error;
      }
    },

    /** Records a match of replaced keys, so that they keep verifying. */
    async record({ number, matchedAt }: RetiredGeneration): Promise<void> {
      const at = now();
      const isRecent = (time: number | undefined) =>
        time !== undefined && Math.abs(at - time) < recordEveryMs;
      if (isRecent(recordedAt.get(number) ?? matchedAt)) return;
      // Before the first await, so that one of many deliveries stores it.
      recordedAt.set(number, at);
      try {
        await change((state) => {
          const stored = state.retired.find((generation) => generation.number === number);
          if (stored === undefined || isRecent(stored.matchedAt)) return undefined;
          const retired = state.retired.map((generation) =>
            generation === stored ? { ...generation, matchedAt: at } : generation,
          );
          return { ...state, retired };
        });
      } catch (error) {
        recordedAt.delete(number);
        throw error;
      }
    },
  };
}
