import { AsyncLocalStorage } from 'node:async_hooks';
import { type SeededRandom, seededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { dayOne, type Machine } from './machine.ts';
import { realImmediate, simulateGlobals } from './simulated-globals.ts';

/** Something that happens later: a timer, an arrival, an answer. */
interface Task {
  at: number;
  readonly order: number;
  /** Whose event loop runs it; `undefined` for the world itself. */
  readonly machine: Machine | undefined;
  readonly run: () => void;
  isCancelled: boolean;
}

export interface Scheduled {
  cancel(): void;
}

/** Probabilities of what the world does to its machines by itself. All are 0 once the faults are over. */
export interface Disturbances {
  /** For each reading of a clock: the process stops there, and goes on later. */
  readonly stall: number;
  /** For each timer. */
  readonly lateTimer: number;
  /** For each reading of a clock. */
  readonly clockJump: number;
}

/**
 * One event loop for all that is simulated: it owns every clock, timer and message, and draws whatever is random from
 * one seed. Product code runs inside it between two events, as in one process of its own.
 */
export class Simulation {
  readonly trace: string[] = [];
  /** Milliseconds since the simulation began. */
  time = 0;
  disturbances: Disturbances = { stall: 0, lateTimer: 0, clockJump: 0 };
  /** Called for what an observer has to know: a stall, a jump of a clock. */
  onDisturbance: (kind: 'stall' | 'clock-jump', machine: Machine, ms: number) => void = () => {};
  /** A rejection that nobody handles ends a real process. */
  onUnhandled: (error: unknown) => void = () => {};
  isInTransaction = false;
  readonly #queue: Task[] = [];
  readonly #seed: string;
  readonly #world: SeededRandom;
  readonly #product: SeededRandom;
  #order = 0;

  constructor(seed: string) {
    this.#seed = seed;
    this.#world = this.stream('world');
    this.#product = this.stream('product');
  }

  /** Random numbers for one purpose: others do not change when something else draws. */
  stream(name: string): SeededRandom {
    return seededRandom(this.#seed, name);
  }

  log(what: string): void {
    this.trace.push(`${this.time} ${currentMachine()?.name ?? '-'} ${what}`);
  }

  /** When code of this machine that runs now is, which may have stalled since the event began. */
  timeOf(machine: Machine | undefined): number {
    return Math.max(this.time, machine?.busyUntil ?? 0);
  }

  /** Runs something later, as code of this machine. */
  after(ms: number, machine: Machine | undefined, run: () => void): Scheduled {
    return this.#schedule(this.timeOf(currentMachine()) + Math.max(0, Math.ceil(ms)), machine, run);
  }

  #schedule(at: number, machine: Machine | undefined, run: () => void): Scheduled {
    const task = { at, order: this.#order++, machine, run, isCancelled: false };
    this.#push(task);
    return {
      cancel() {
        task.isCancelled = true;
      },
    };
  }

  delay(ms: number, machine?: Machine): Promise<void> {
    return new Promise((resolve) => this.after(ms, machine, resolve));
  }

  /** Runs code as this machine. */
  within<Result>(machine: Machine | undefined, run: () => Result): Result {
    return machine === undefined ? contexts.exit(run) : contexts.run(machine, run);
  }

  /** Runs a change: nothing stalls inside it, but a clock may jump. */
  atomically<Result>(run: () => Result): Result {
    this.isInTransaction = true;
    try {
      return run();
    } finally {
      this.isInTransaction = false;
    }
  }

  /** Runs events until the predicate holds, checked once a simulated second, or nothing is left, or the time is over. */
  async run(isOver: () => boolean, limitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const end = this.time + limitMs;
    await realImmediate();
    for (let checkAt = this.time; ; ) {
      if (this.time >= checkAt) {
        if (isOver()) return true;
        checkAt = this.time + 1_000;
      }
      const task = this.#queue.pop();
      if (task === undefined) return isOver();
      if (task.at > end) {
        this.#push(task);
        this.time = end;
        return isOver();
      }
      if (task.isCancelled) continue;
      this.time = Math.max(this.time, task.at);
      const { machine } = task;
      if (machine !== undefined && !machine.isAlive) continue;
      if (machine !== undefined && machine.busyUntil > this.time) {
        // Its loop is blocked: the event waits for its turn.
        task.at = machine.busyUntil;
        this.#push(task);
        continue;
      }
      this.within(machine, task.run);
      await realImmediate();
    }
  }

  /** What `Date.now`, `performance.now` and timers are while this simulation runs. */
  activate(): void {
    simulateGlobals({
      wall: () => this.#read((machine, at) => machine.wall(at)),
      monotonic: () => this.#read((machine, at) => machine.monotonic(at)),
      random: (bytes) => this.#product.bytes(bytes),
      timer: (ms, run) => {
        const machine = currentMachine();
        const late = this.#draws(this.disturbances.lateTimer) ? this.#span([50, 1_000, 20_000]) : 0;
        return this.after(ms + late, machine, run);
      },
      immediate: (run, owner) => {
        const machine = owner === 'all processes' ? undefined : currentMachine();
        return this.#schedule(this.timeOf(machine), machine, run);
      },
      unhandled: (error) => this.onUnhandled(error),
    });
  }

  #read(clock: (machine: Machine, at: number) => number): number {
    const machine = currentMachine();
    if (machine === undefined) return dayOne + this.time;
    if (machine.isAlive && machine.canBeDisturbed) {
      if (!this.isInTransaction && this.#draws(this.disturbances.stall))
        this.stall(machine, this.#span([200, 5_000, 30_000, 150_000]));
      if (this.#draws(this.disturbances.clockJump)) this.jump(machine, this.#jump());
    }
    return clock(machine, this.timeOf(machine));
  }

  /** The machine does nothing for a while, and does not notice it but by its clocks. */
  stall(machine: Machine, ms: number): void {
    machine.busyUntil = this.timeOf(machine) + ms;
    this.log(`${machine.name} stalls for ${ms}`);
    this.onDisturbance('stall', machine, ms);
  }

  jump(machine: Machine, ms: number): void {
    machine.clock.offset += ms;
    this.log(`the clock of ${machine.name} jumps by ${ms}`);
    this.onDisturbance('clock-jump', machine, ms);
  }

  #jump(): number {
    const far = this.#world.chance(0.3) ? 86_400_000 : this.#span([5_000, 120_000, 1_800_000]);
    return this.#world.chance(0.5) ? far : -far;
  }

  #draws(probability: number): boolean {
    return probability > 0 && this.#world.chance(probability);
  }

  #span(most: readonly number[]): number {
    return Math.ceil((most[Math.floor(this.#world.fraction() * most.length)] ?? 1) * this.#world.fraction());
  }

  /** Keeps the queue in order, the next task last; tasks of the same time in the order in which they were set. */
  #push(task: Task): void {
    let [from, to] = [0, this.#queue.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      // Sound: the index is that of a task.
      const other = this.#queue[middle] as Task;
      if (task.at < other.at || (task.at === other.at && task.order < other.order)) from = middle + 1;
      else to = middle;
    }
    this.#queue.splice(from, 0, task);
  }
}

const contexts = new AsyncLocalStorage<Machine>();

/** Whose code runs now. */
export function currentMachine(): Machine | undefined {
  return contexts.getStore();
}
