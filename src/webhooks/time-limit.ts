import { InboxError } from '../errors/inbox-error.ts';

/**
 * Runs work, but not for ever: past the limit it rejects with `handler_timeout` and the work's signal is aborted.
 * The same when the outer signal is aborted. Work that ignores the signal goes on, unheeded.
 */
export async function withTimeLimit<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  timeLimitMs: number,
  outer?: AbortSignal,
): Promise<Result> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end = (): void => {};
  const cutOff = new Promise<never>((_, reject) => {
    end = () => {
      reject(outer?.reason);
      controller.abort(outer?.reason);
    };
    if (outer?.aborted) end();
    else outer?.addEventListener('abort', end);
    timer = setTimeout(() => {
      const error = new InboxError(
        'handler_timeout',
        `A handler did not settle within ${timeLimitMs} ms: it is cut off, and the delivery will be tried again.`,
      );
      reject(error);
      controller.abort(error);
    }, timeLimitMs);
  });
  try {
    return await Promise.race([work(controller.signal), cutOff]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', end);
  }
}

/** `setTimeout` holds no more. */
export const longestTimerMs = 2 ** 31 - 1;
