import { setImmediate as nextTurn } from 'node:timers/promises';
import { longestTimerMs } from '../../../internal/deadline.ts';
import { checkInteger } from '../../../internal/options.ts';

/** The time inside a sandbox. Both the real time and one that stands still can be moved forward. */
export interface SandboxClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Moves the time forward. Due work runs in the order of its time, one after another: a repeated or delayed event
   * is posted and answered.
   *
   * @throws {ConfigurationError} `invalid_option` (a rejection) for a time that is not a whole number
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Moves the time forward until every delayed or repeated event has been posted. */
  readonly drain: () => Promise<void>;
  /** When the next work is due, in milliseconds since 1970; `undefined` without work. */
  readonly nextAt: number | undefined;
  /** Resolves after this many milliseconds on this clock, or at once when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface InternalClock extends SandboxClock {
  /** Runs a callback later. The callback must not reject. */
  schedule(ms: number, run: () => Promise<void> | void): { cancel(): void };
  /** Forgets all scheduled work. */
  stop(): void;
}

export function createClock(options: { now: () => number; mode: 'real' | 'manual' }): InternalClock {
  const isReal = options.mode === 'real';
  const start = isReal ? 0 : options.now();
  /** The first due first; timers of the same time in the order in which they were set. */
  const timers: { readonly at: number; readonly run: () => Promise<void> | void }[] = [];
  let offset = 0;
  let sleepers = 0;
  let wake: ReturnType<typeof setTimeout> | undefined;

  const now = () => (isReal ? options.now() : start) + offset;

  function schedule(ms: number, run: () => Promise<void> | void) {
    const timer = { at: now() + ms, run };
    timers.splice(timers.findLastIndex(({ at }) => at <= timer.at) + 1, 0, timer);
    arm();
    return {
      cancel() {
        const index = timers.indexOf(timer);
        if (index !== -1) timers.splice(index, 1);
        arm();
      },
    };
  }

  function takeDue() {
    const [first] = timers;
    return first !== undefined && first.at <= now() ? timers.shift() : undefined;
  }

  function arm(): void {
    clearTimeout(wake);
    const [first] = timers;
    if (!isReal || first === undefined) return;
    // At least one millisecond, since an injected `now` may stand still.
    wake = setTimeout(runDue, Math.min(Math.max(first.at - now(), 1), longestTimerMs));
    // Timers are numbers in some runtimes. A delayed event does not keep the process alive; a pending `sleep` does.
    if (sleepers === 0) wake.unref?.();
  }

  function runDue(): void {
    for (let timer = takeDue(); timer !== undefined; timer = takeDue()) void timer.run();
    arm();
  }

  async function runUntil(target: number): Promise<void> {
    for (let [first] = timers; first !== undefined && first.at <= target; [first] = timers) {
      offset += Math.max(0, first.at - now());
      await takeDue()?.run();
      // Promises that waited for this timer go first: they may set another one.
      await nextTurn();
    }
    offset += Math.max(0, target - now());
    arm();
  }

  return Object.freeze({
    now,
    async advance(ms: number) {
      await runUntil(now() + checkInteger('clock.advance', ms, { least: 0 }));
    },
    async drain() {
      for (let [first] = timers; first !== undefined; [first] = timers) await runUntil(first.at);
    },
    get nextAt() {
      return timers[0]?.at;
    },
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve();
        sleepers += 1;
        const timer = schedule(ms, done);
        function done(): void {
          sleepers -= 1;
          timer.cancel();
          signal?.removeEventListener('abort', done);
          resolve();
        }
        signal?.addEventListener('abort', done);
      }),
    schedule,
    stop() {
      clearTimeout(wake);
      timers.length = 0;
    },
  });
}
