/**
 * Runs a callback after the current work: on Node, after the current callback and the promises that it settled. Used to
 * set timers late: most work ends before then and needs no timer.
 */
export const onNextTick: (callback: () => void) => void =
  // Without nextTick the callback runs at once, and the timer is set every time.
  runtime().process?.nextTick ?? ((callback) => callback());

function runtime(): { process?: { nextTick?: (callback: () => void) => void } } {
  return globalThis;
}
