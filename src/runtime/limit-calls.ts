import { isWholeProcess } from './whole-process.ts';

/** How long, and how many at once, calls of a server may wait. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly maxPending: number;
  /** Thrown when too many calls wait. */
  readonly tooMany: () => Error;
}

/**
 * Calls a server. Rejects at the latest when the time is over, with what `failed` makes of the error. Work that does not
 * end then goes on, and its result is dropped.
 */
export type LimitedCall = <Result>(
  work: () => Promise<Result>,
  failed: (error: unknown) => Error,
) => Promise<Result>;

/**
 * Clients of Redis and PostgreSQL wait and queue while their server is away, some of them for ever. This waits no
 * longer than the caller can, and limits how many calls wait.
 */
export function limitCalls({ timeoutMs, maxPending, tooMany }: CallLimits): LimitedCall {
  let pending = 0;
  // workerd drops a cancelled request, which would be counted for ever.
  const isBounded = isWholeProcess();
  return async (work, failed) => {
    if (isBounded && pending >= maxPending) throw tooMany();
    pending++;
    // Counted until it has really ended, which may be long after the time limit.
    const ended = Promise.resolve()
      .then(work)
      .finally(() => {
        pending--;
      });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`The store did not answer within ${timeoutMs} ms.`)),
        timeoutMs,
      );
    });
    try {
      return await Promise.race([ended, timeout]);
    } catch (error) {
      throw failed(error);
    } finally {
      clearTimeout(timer);
    }
  };
}
