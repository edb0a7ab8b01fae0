import { InboxError } from '../errors/inbox-error.ts';

/** Asks a store over the network. Rejects with an {@link InboxError}, and within the time limit. */
export type StoreGate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Clients of Redis and PostgreSQL wait and queue while their server is away, some for ever. This waits no longer
 * than the sender of a webhook would, and lets no more than so many wait.
 */
export function storeGate({
  timeoutMs,
  maxPending,
}: {
  readonly timeoutMs: number;
  readonly maxPending: number;
}): StoreGate {
  let pending = 0;
  return async (work) => {
    if (pending >= maxPending) {
      throw new InboxError('store_unavailable', `${maxPending} deliveries wait for the store of the inbox.`);
    }
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
    } catch (cause) {
      throw new InboxError('store_unavailable', 'The store of the inbox cannot be used now.', { cause });
    } finally {
      clearTimeout(timer);
    }
  };
}
