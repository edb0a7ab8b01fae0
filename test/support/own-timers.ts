import { vi } from 'vitest';

/**
 * Counts the timers that are set for `ms` from now on. Other tests of the process set timers, too: choose a time that
 * is nobody else's.
 */
export function ownTimers(ms: number) {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const own = () => set.mock.results.filter((_, call) => set.mock.calls[call]?.[1] === ms);
  return {
    /** How many were set. */
    set: () => own().length,
    /** How many of them nobody has cleared. */
    left: () => own().filter(({ value }) => !cleared.mock.calls.some(([timer]) => timer === value)).length,
  };
}
