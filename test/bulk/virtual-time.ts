import { setImmediate } from 'node:timers';
import type { Sleep } from '../../src/internal/backoff.ts';

/** A clock that jumps to whatever is waited for next, as soon as nothing else is to be done. */
export interface VirtualTime {
  now: () => number;
  sleep: Sleep;
  /** Sets the clock without ending any sleep. */
  set(to: number): void;
}

export function virtualTime(begin = 1_700_000_000_000): VirtualTime {
  let time = begin;
  /** Sleeps last as long as they were asked to, whatever the clock says. */
  let elapsed = 0;
  let sleeping: { readonly until: number; readonly wake: () => void }[] = [];
  let isPumping = false;

  function pump(quietTurns: number): void {
    setImmediate(() => {
      if (quietTurns > 0) return pump(quietTurns - 1);
      const until = Math.min(...sleeping.map((one) => one.until));
      time += until - elapsed;
      elapsed = until;
      const due = sleeping.filter((one) => one.until === until);
      sleeping = sleeping.filter((one) => one.until !== until);
      for (const { wake } of due) wake();
      if (sleeping.length > 0) pump(turns);
      else isPumping = false;
    });
  }

  return {
    now: () => time,
    set(to) {
      time = to;
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const one = { until: elapsed + ms, wake: resolve };
        sleeping.push(one);
        signal.addEventListener('abort', () => {
          sleeping = sleeping.filter((other) => other !== one);
          resolve();
        });
        if (isPumping) return;
        isPumping = true;
        pump(turns);
      }),
  };
}

/** Enough turns of the event loop for a transaction and a message to end. */
const turns = 8;
