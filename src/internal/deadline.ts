import { isWholeProcess } from './runtime.ts';

/** Milliseconds: `setTimeout` fires at once when it is set for longer. */
export const longestTimerMs = 2 ** 31 - 1;

export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`It did not end within ${ms} ms.`);
    this.name = 'DeadlineError';
  }
}

export interface Deadline {
  /** Milliseconds that the work may take. */
  readonly ms: number;
  /** Ends the work early, or keeps it from starting. */
  readonly signal?: AbortSignal | undefined;
  /** The error at the deadline. @default a {@link DeadlineError} */
  readonly tooLate?: (() => Error) | undefined;
}

/**
 * Runs work until a deadline. Then, or when the signal is aborted, it rejects with that reason and aborts the work's
 * own signal. Work that ignores its signal keeps running, and its result is dropped.
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

/** Waits at most this long for all to settle. True when all have. */
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

/** Runs a callback after the current work. Most work ends before then and needs no timer or listener. */
export const onNextTick: (callback: () => void) => void =
  // Without nextTick the callback runs at once, and the timer is set every time.
  runtime().process?.nextTick ?? ((callback) => callback());

function runtime(): { process?: { nextTick?: (callback: () => void) => void } } {
  return globalThis;
}

/** Timers and connections get a turn after this many. */
const mostAtOnce = 256;

const waiting: (() => void)[] = [];

/** Resolves when this turn of the event loop ends: handling all that arrived together in a row costs less. */
export const endOfTurn: () => Promise<void> | undefined = isWholeProcess()
  ? () => new Promise((resolve) => waiting.push(resolve) === 1 && setImmediate(release))
  : () => undefined;

function release(): void {
  for (const resolve of waiting.splice(0, mostAtOnce)) resolve();
  if (waiting.length > 0) setImmediate(release);
}
