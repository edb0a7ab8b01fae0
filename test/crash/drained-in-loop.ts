import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import type { StoreInbox } from '../../src/inbox/store/store-inbox.ts';
import { sleep } from '../../src/internal/backoff.ts';

/** As a scheduled function would drain it, but without a pause worth the name. */
export function drainedInLoop(inbox: StoreInbox): ManagedInbox {
  let isStopped = false;
  async function drainAgain(): Promise<void> {
    while (!isStopped) {
      // The engine may be away.
      await inbox.drain().catch(() => {});
      // real time: the pause between two calls.
      await sleep(10);
    }
  }
  return {
    ...inbox,
    attach(host) {
      inbox.attach?.(host);
      if (inbox.role === 'drain') void drainAgain();
    },
    stop(options) {
      isStopped = true;
      return inbox.stop(options);
    },
  };
}
