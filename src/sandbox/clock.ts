import { setImmediate as nextTurn } from 'node:timers/promises';
import { longestTimerMs } from '../internal/deadline.ts';
import { checkInteger } from '../internal/options.ts';

/** The time inside a sandbox. Both the real time and one that stands still can be moved forward. */
export interface SandboxClock {
  /** Milliseconds since the epoch. */
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
  /** When the next work is due, in milliseconds since the epoch; `undefined` if there is none. */
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
  const queue = new TimerQueue();
  let offset = 0;
  let sleepers = 0;
  let wake: ReturnType<typeof setTimeout> | undefined;

  const now = () => (isReal ? options.now() : start) + offset;

  function schedule(ms: number, run: () => Promise<void> | void) {
    const timer = queue.add(now() + ms, run);
    arm();
    return {
      cancel() {
        timer.isCancelled = true;
        arm();
      },
    };
  }

  function arm(): void {
    clearTimeout(wake);
    const { first } = queue;
    if (!isReal || first === undefined) return;
    // At least one millisecond, since an injected `now` may stand still.
    wake = setTimeout(runDue, Math.min(Math.max(first.at - now(), 1), longestTimerMs));
    // Timers are numbers in some runtimes. A delayed event does not keep the process alive; a pending `sleep` does.
    if (sleepers === 0) wake.unref?.();
  }

  function runDue(): void {
    for (let timer = queue.takeDue(now()); timer !== undefined; timer = queue.takeDue(now()))
      void timer.run();
    arm();
  }

  async function runUntil(target: number): Promise<void> {
    for (let { first } = queue; first !== undefined && first.at <= target; { first } = queue) {
      offset += Math.max(0, first.at - now());
      await queue.takeDue(now())?.run();
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
      for (let { first } = queue; first !== undefined; { first } = queue) await runUntil(first.at);
    },
    get nextAt() {
      return queue.first?.at;
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
      queue.clear();
    },
  });
}

interface Timer {
  readonly at: number;
  /** Timers due at the same time run in the order in which they were set. */
  readonly order: number;
  readonly run: () => Promise<void> | void;
  isCancelled: boolean;
}

/** A binary heap by time: the cost of one among 100,000 timers stays small. */
export class TimerQueue {
  readonly #heap: Timer[] = [];
  #order = 0;

  get first(): Timer | undefined {
    while (this.#heap[0]?.isCancelled) this.#removeFirst();
    return this.#heap[0];
  }

  add(at: number, run: Timer['run']): Timer {
    const timer: Timer = { at, run, order: this.#order++, isCancelled: false };
    let index = this.#heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfLater(parent, index)) break;
      index = parent;
    }
    return timer;
  }

  takeDue(now: number): Timer | undefined {
    const { first } = this;
    if (first === undefined || first.at > now) return undefined;
    this.#removeFirst();
    return first;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const child = this.#isLater(left, left + 1) ? left + 1 : left;
      if (!this.#swapIfLater(index, child)) return;
      index = child;
    }
  }

  #swapIfLater(one: number, other: number): boolean {
    if (!this.#isLater(one, other)) return false;
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    this.#heap[one] = b;
    this.#heap[other] = a;
    return true;
  }

  #isLater(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && (a.at - b.at || a.order - b.order) > 0;
  }
}
