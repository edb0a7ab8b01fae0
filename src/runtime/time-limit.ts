import { InboxError } from '../errors/inbox-error.ts';
import { onNextTick } from './next-tick.ts';

/**
 * Runs work with a time limit. Past the limit, or when the outer signal is aborted, it rejects with `handler_timeout`
 * and aborts the work's signal. Work that ignores its signal keeps running, and its result is dropped.
 */
export function withTimeLimit<Result>(
  work: (options: { readonly signal: AbortSignal }) => Promise<Result>,
  timeLimitMs: number,
  outer?: AbortSignal,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    let isSettled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      outer?.removeEventListener('abort', cutOffByOuter);
    };
    const cutOff = (reason: unknown) => {
      settle();
      reject(reason);
      controller.abort(reason);
    };
    const cutOffByOuter = () => cutOff(outer?.reason);
    if (outer?.aborted) return cutOffByOuter();
    outer?.addEventListener('abort', cutOffByOuter);
    work({ signal: controller.signal }).then(
      (result) => {
        settle();
        resolve(result);
      },
      (error) => {
        settle();
        reject(error);
      },
    );
    onNextTick(() => {
      if (!isSettled) timer = setTimeout(() => cutOff(timeout(timeLimitMs)), timeLimitMs);
    });
  });
}

function timeout(timeLimitMs: number): InboxError {
  return new InboxError(
    'handler_timeout',
    `A handler did not settle within ${timeLimitMs} ms: it is cut off, and its delivery counts as failed.`,
  );
}
