import { setImmediate as nextTurn } from 'node:timers/promises';
import { longestTimerMs } from '../internal/deadline.ts';
import { checkInteger } from '../internal/options.ts';

/** The time inside a sandbox: the real time, or one that stands still, and in both cases can be moved forward. */
export interface SandboxClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Moves the time forward. What becomes due on the way happens in the order of its time, each when the one before is
   * done: an event that is repeated or delayed is posted and answered.
   *
   * @throws {ConfigurationError} `invalid_option` (a rejection) for a time that is no whole number
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Moves the time forward until nothing is waiting for it: every delayed or repeated event has been posted. */
  readonly drain: () => Promise<void>;
  /** When the next thing is due, in milliseconds since the epoch; `undefined` when nothing waits. */
  readonly nextAt: number | undefined;
  /** Resolves when this many milliseconds have passed on this clock, or at once when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The clock with what only the sandbox itself does. */
export interface InternalClock extends SandboxClock {
  /** Runs this later. A failure is the callback's own affair: it must not reject. */
  schedule(ms: number, run: () => Promise<void> | void): { cancel(): void };
  /** Forgets what waits. */
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

  /** Sets the one real timer to what is due first. */
  function arm(): void {
    clearTimeout(wake);
    const { first } = queue;
    if (!isReal || first === undefined) return;
    // At least a millisecond: an injected `now` may stand still.
    wake = setTimeout(runDue, Math.min(Math.max(first.at - now(), 1), longestTimerMs));
    // Some runtimes have timers that are numbers. A delayed event does not keep a process alive, a reply that somebody waits for does.
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
      // What it has started goes on first: a promise that was waiting for it may set another timer.
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

/** What is to run at a time. */
interface Timer {
  readonly at: number;
  /** Runs of equal times keep the order in which they were set. */
  readonly order: number;
  readonly run: () => Promise<void> | void;
  isCancelled: boolean;
}

/** Timers by their time: a binary heap, so that 100,000 of them cost no more each than ten do. */
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

  /** Takes the first timer if it is due. */
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
