import { setImmediate } from 'node:timers/promises';

/** Resolves after one turn of the event loop: callbacks of I/O that was ready have run. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}
