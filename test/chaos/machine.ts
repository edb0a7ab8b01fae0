/** The wall clock of a host: the processes on it share it. */
export interface SharedClock {
  /** Milliseconds that it is ahead. */
  offset: number;
  /** The share by which it is too fast. */
  readonly drift: number;
}

/** The day on which every simulation begins. */
export const dayOne = 1_700_000_000_000;

/** A process, its clocks, and what is known of its life. */
export class Machine {
  readonly name: string;
  readonly clock: SharedClock;
  /** Not the service: it is the yardstick. */
  readonly canBeDisturbed: boolean;
  /** Until then its loop is blocked, in time of the simulation. */
  busyUntil = 0;
  /** Milliseconds that it sleeps when its next lease is written: the answer waits for it. */
  sleepsFor = 0;
  diedAt = Number.POSITIVE_INFINITY;
  readonly #onDeath = new Set<() => void>();
  readonly #bornAt: number;

  constructor(name: string, options: { clock: SharedClock; bornAt: number; canBeDisturbed: boolean }) {
    this.name = name;
    this.clock = options.clock;
    this.canBeDisturbed = options.canBeDisturbed;
    this.#bornAt = options.bornAt;
  }

  wall(at: number): number {
    return Math.floor(dayOne + at * (1 + this.clock.drift) + this.clock.offset);
  }

  /** Never set back. */
  monotonic(at: number): number {
    return (at - this.#bornAt) * (1 + this.clock.drift);
  }

  get isAlive(): boolean {
    return this.diedAt === Number.POSITIVE_INFINITY;
  }

  /** Called once it is dead. Returns how to take that back. */
  onDeath(run: () => void): () => void {
    this.#onDeath.add(run);
    return () => this.#onDeath.delete(run);
  }

  /** Nothing of it runs any more: what it waits for never comes. */
  kill(at: number): void {
    if (!this.isAlive) return;
    this.diedAt = at;
    this.busyUntil = at;
    for (const run of [...this.#onDeath]) run();
  }
}
