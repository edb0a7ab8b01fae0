import { isWholeProcess } from './runtime.ts';

/** Milliseconds that a timer can hold: `setTimeout` fires at once when it is set for longer. */
export const longestTimerMs = 2 ** 31 - 1;

/** Work took longer than it may. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`It did not end within ${ms} ms.`);
    this.name = 'DeadlineError';
  }
}

export interface Deadline {
  /** Milliseconds that the work may take. */
  readonly ms: number;
  /** Ends the work early. If it is aborted already, the work is not begun. */
  readonly signal?: AbortSignal | undefined;
  /** The error of work that takes too long. @default a {@link DeadlineError} */
  readonly tooLate?: (() => Error) | undefined;
}

/**
 * Runs work that may take so long. It rejects at the deadline, or with the reason of the signal, and aborts the work's
 * own signal with the same reason. Work that ignores its signal keeps running, and its result is dropped.
 */
export function withDeadline<Result>(
  { ms, signal: outer, tooLate = () => new DeadlineError(ms) }: Deadline,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  };
  const stop = (reason: unknown) => {
    end();
    reject(reason);
    controller.abort(reason);
  };
  const onAbort = () => stop(outer?.reason);
  if (outer?.aborted) {
    onAbort();
    return promise;
  }
  outer?.addEventListener('abort', onAbort);
  run(controller.signal).then(
    (result) => {
      end();
      resolve(result);
    },
    (error) => {
      end();
      reject(error);
    },
  );
  onNextTick(() => {
    if (!hasEnded) timer = setTimeout(() => stop(tooLate()), Math.min(ms, longestTimerMs));
  });
  return promise;
}

/** Waits until all have settled, but no longer than the given time. True when all have. */
export async function settledWithin(
  promises: readonly Promise<unknown>[],
  timeoutMs: number,
): Promise<boolean> {
  const settled = withDeadline({ ms: timeoutMs }, () => Promise.allSettled(promises));
  return await settled.then(
    () => true,
    () => false,
  );
}

/**
 * Runs a callback after the current work: on Node, after the current callback and the promises that it settled. Most
 * work ends before then and needs no timer or listener.
 */
export const onNextTick: (callback: () => void) => void =
  // Without nextTick the callback runs at once, and the timer is set every time.
  runtime().process?.nextTick ?? ((callback) => callback());

function runtime(): { process?: { nextTick?: (callback: () => void) => void } } {
  return globalThis;
}

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
