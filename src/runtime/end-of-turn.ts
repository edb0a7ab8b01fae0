import { isWholeProcess } from './whole-process.ts';

/** How many go on at once. Timers and connections have their turn before the next ones. */
const mostAtOnce = 256;

const waiting: (() => void)[] = [];

/**
 * Resolves when this turn of the event loop ends: by then, what arrived together has been read. Work that follows is
 * done for all of it in a row, which costs less than to do it between one read and the next.
 *
 * Where the event loop is not the whole process, it resolves at once: workerd drops what a cancelled request has set
 * up, and with it whatever other requests were waiting for.
 */
export const endOfTurn: () => Promise<void> | undefined = isWholeProcess()
  ? () => new Promise((resolve) => waiting.push(resolve) === 1 && setImmediate(release))
  : () => undefined;

function release(): void {
  for (const resolve of waiting.splice(0, mostAtOnce)) resolve();
  if (waiting.length > 0) setImmediate(release);
}
