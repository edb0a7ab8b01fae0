/** Milliseconds that a timer can hold: `setTimeout` fires at once when it is set for longer. */
export const longestTimerMs = 2 ** 31 - 1;
