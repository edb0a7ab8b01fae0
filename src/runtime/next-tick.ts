/**
 * Runs a callback once what is at hand now is done: on Node when the current callback and all promises that it
 * settles have run. For timers that most often would be cleared unused: what ends within a turn needs none.
 */
export const onNextTick: (callback: () => void) => void =
  // Where there is none, at once: the timer is then set every time.
  runtime().process?.nextTick ?? ((callback) => callback());

function runtime(): { process?: { nextTick?: (callback: () => void) => void } } {
  return globalThis;
}
