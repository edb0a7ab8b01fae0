import type { Sandbox } from '../../src/devtools/sandbox/sandbox.ts';
import type { DrainResult } from '../../src/inbox/store/drain.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

/** What may explain that something happened twice or late. */
export interface Disturbance {
  readonly kind: 'death' | 'stall' | 'clock-jump' | 'fault';
  readonly machine: Machine;
  /** The keys of the records that a fault affects. @default any */
  readonly about?: string | undefined;
  readonly from: number;
  readonly until: number;
}

/** A handler that ran. */
export interface Visit {
  readonly digest: string;
  readonly machine: Machine;
  readonly from: number;
  until: number | undefined;
  readonly timeLimitMs: number;
  /** When its process asked for the lease. */
  readonly leasedFrom: number;
  /** Came to its end. */
  isHandled: boolean;
  /** When its process gave it up. */
  abortedAt: number;
  /** Given up by a stop, and not for taking too long. */
  isStopped: boolean;
  /** When its process reported that it is handled, which it has stored by then. */
  settledAt: number;
  /** Its process stalled in the very moment in which it began: nobody can look in between. */
  readonly isBlind: boolean;
}

export interface Answer {
  readonly status: number;
  readonly machine: Machine;
  readonly begun: number;
  readonly tookMs: number;
}

/** What happened at the partner's side, as somebody sees it who stands beside it. */
export class Books {
  /** What broke a promise while the scenario ran. */
  readonly breaches: string[] = [];
  readonly disturbances: Disturbance[] = [];
  /** Orders that the partner wanted, with the payload that counts. */
  readonly amounts = new Map<string, string>();
  /** Every payload that an id may have had: that of its first request, and those that replaced it. */
  readonly payloads = new Map<string, Set<string>>();
  /** Ids of orders that are being replaced, or whose replacement nobody heard the end of. */
  readonly replaced = new Set<string>();
  /** Rows of the shop that were changed, and not the order. */
  readonly rows = new Map<string, string>();
  /** Orders with addresses of another network than their chain's. */
  readonly misdirected = new Set<string>();
  /** What persons decided about differing events, by their digests. */
  readonly decisions = new Map<string, Set<string>>();
  /** Texts of events, with what the service got as an answer: a status, or 0 for none. */
  readonly answers = new Map<string, number[]>();
  /** Texts of events, with what the processes answered. */
  readonly given = new Map<string, Answer[]>();
  /** Digests by the text of the event, as the service posted it. */
  readonly digests = new Map<string, string>();
  /** When a process first got a delivery, by its digest. */
  readonly arrivals = new Map<string, number>();
  readonly visits = new Map<string, Visit[]>();
  /** Dead letters since nobody could read them. */
  readonly unread = new Set<string>();
  /** Dead letters since they are not about what was ordered: another attempt ends in the same way. */
  readonly mismatched = new Set<string>();
  /** Times by digest. */
  readonly replayed = new Map<string, number[]>();
  /** Deliveries that a journal has compared with their orders. */
  readonly compared = new Set<string>();
  /** Orders of which any event was handled. */
  readonly evident = new Set<string>();
  /** The public keys that the rotation has acknowledged. */
  readonly receivedKeys = new Set<string>();
  /** How often the mail of an effect was sent. */
  readonly mails = new Map<string, number>();
  /** Those that `once` has reported as sent. */
  readonly mailed = new Set<string>();
  /** Orders that the loop gave to a person. */
  readonly handedOver = new Set<string>();
  /** Events that nothing was registered for. */
  readonly ignored = new Set<string>();
  /** When a process last asked for a record, by its own clock and by the world's, by its name and the digest. */
  readonly #asked = new Map<string, { readonly own: number; readonly time: number }>();
  readonly #failures = new Map<string, number>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  breach(what: string): void {
    if (this.breaches.includes(what)) return;
    this.#world.simulation.log(`BREACH ${what}`);
    this.breaches.push(what);
  }

  answer(text: string, status: number): void {
    this.answers.set(text, [...(this.answers.get(text) ?? []), status]);
  }

  received(text: string, answer: Answer): void {
    this.given.set(text, [...(this.given.get(text) ?? []), answer]);
  }

  /** An event that gets another digest would be handled again. */
  identify({ body, digest }: { readonly body: string; readonly digest: string }): void {
    const former = this.digests.get(body) ?? digest;
    if (former !== digest)
      this.breach(`Event ${former.slice(0, 8)} came again, and was taken for ${digest.slice(0, 8)}.`);
    this.digests.set(body, digest);
    if (!this.arrivals.has(digest)) this.arrivals.set(digest, this.#world.simulation.time);
  }

  /** A process asks for the records of deliveries. */
  asks(machine: Machine, keys: readonly string[]): void {
    const { simulation } = this.#world;
    const times = { own: simulation.timeOf(machine), time: simulation.time };
    for (const key of keys) {
      const [digest] = /[0-9a-f]{64}$/.exec(key) ?? [];
      if (digest !== undefined) this.#asked.set(`${machine.name} ${digest}`, times);
    }
  }

  /** Whether a process died in the middle of its work on a delivery. SQLite is not asked: there, any death will do. */
  hasDiedOver(digest: string): boolean {
    const arrival = this.arrivals.get(digest) ?? Number.POSITIVE_INFINITY;
    return this.disturbances.some(({ kind, machine, from }) => {
      if (kind !== 'death' || from < arrival) return false;
      if (this.#world.plan.inbox === 'sqlite') return true;
      const asked = this.#asked.get(`${machine.name} ${digest}`);
      return asked !== undefined && from - asked.time < 60_000;
    });
  }

  reported(
    digest: string,
    { outcome, code, machine }: { outcome: string; code: string | undefined; machine: Machine },
  ): void {
    if (outcome === 'unrecognized') this.unread.add(digest);
    if (code === 'order_mismatch') this.mismatched.add(digest);
    if (outcome === 'ignored') this.ignored.add(digest);
    if (outcome !== 'handled') return;
    const visit = this.visits.get(digest)?.findLast((one) => one.machine === machine && one.isHandled);
    if (visit !== undefined) visit.settledAt = Math.min(visit.settledAt, this.#world.simulation.time);
  }

  /** Some handlers fail the first time, some of them twice. */
  fails(digest: string, where: 'before' | 'after' | 'mail'): boolean {
    if (where === 'mail') return add(this.#failures, `mail ${digest}`) === 1;
    if (isPoison(digest)) return where === 'after';
    const most = { 0: 1, 1: 1, 2: 2 }[Number.parseInt(digest.slice(0, 1), 16)] ?? 0;
    if ((digest.slice(1, 2) < '8' ? 'before' : 'after') !== where) return false;
    return add(this.#failures, digest) <= most;
  }

  begin(digest: string, machine: Machine, { timeLimitMs }: { timeLimitMs: number }): Visit {
    const { simulation } = this.#world;
    const from = simulation.timeOf(machine);
    const isBlind = this.disturbances.some(
      (one) => one.machine === machine && one.kind === 'stall' && one.from === simulation.time,
    );
    const visit = {
      digest,
      machine,
      from,
      until: undefined,
      timeLimitMs,
      // SQLite answers at once, or within the time for which it waits for others.
      leasedFrom: this.#asked.get(`${machine.name} ${digest}`)?.own ?? from - 6_000,
      isHandled: false,
      isStopped: false,
      abortedAt: Number.POSITIVE_INFINITY,
      settledAt: Number.POSITIVE_INFINITY,
      isBlind,
    };
    const before = this.visits.get(digest) ?? [];
    this.visits.set(digest, [...before, visit]);
    return visit;
  }

  isHandling(machine: Machine): boolean {
    return this.#visitsOf(machine).some(({ until }) => until === undefined);
  }

  /** What happened to a machine between these times, as far as it affects a delivery. */
  disturbancesOf(
    machine: Machine,
    { from, until, digest = '' }: { from: number; until: number; digest?: string | undefined },
  ): Disturbance[] {
    return this.disturbances.filter(
      (one) =>
        one.machine === machine &&
        one.from <= until &&
        one.until >= from &&
        (one.about === undefined || one.about.includes(digest)),
    );
  }

  /** A drain counts no handler that did not come to its end. */
  drained(
    { handled }: Pick<DrainResult, 'handled'>,
    { machine, begun }: { machine: Machine; begun: number },
  ): void {
    const done = this.#visitsOf(machine).filter(
      ({ isHandled, until = 0 }) => isHandled && until >= begun,
    ).length;
    if (handled > done)
      this.breach(`A drain of ${machine.name} reported ${handled} handled, and ${done} were.`);
  }

  /** The end of a drain gives back a delivery whose end it could not store. */
  gaveBack(machine: Machine, from: number): void {
    const { time } = this.#world.simulation;
    for (const visit of this.#visitsOf(machine))
      if (visit.from >= from && visit.settledAt === Number.POSITIVE_INFINITY)
        visit.abortedAt = Math.min(visit.abortedAt, time);
  }

  isCutOff(machine: Machine, from: number): boolean {
    return this.#visitsOf(machine).some(
      ({ abortedAt }) => abortedAt >= from && abortedAt < Number.POSITIVE_INFINITY,
    );
  }

  /** Handlers of a process that run now, and that it has not given up. */
  running(machine: Machine): number {
    return this.#visitsOf(machine).filter(
      ({ until, abortedAt }) => until === undefined && abortedAt === Number.POSITIVE_INFINITY,
    ).length;
  }

  #visitsOf(machine: Machine): Visit[] {
    return [...this.visits.values()].flat().filter((visit) => visit.machine === machine);
  }
}

/** Its handler fails for ever. */
export function isPoison(digest: string): boolean {
  return /^f[c-f]/.test(digest);
}

/** It ends its process each time. */
export function kills(digest: string): boolean {
  return digest.startsWith('fd');
}

/** Counts, and returns how many there are. */
export function add(counts: Map<string, number>, name: string): number {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count;
}

/** Adds to the set of this name. */
export function addTo(sets: Map<string, Set<string>>, name: string, item: string): void {
  sets.set(name, (sets.get(name) ?? new Set()).add(item));
}

/** The orders that the service has under an id. */
export function ordersOf(sandbox: Sandbox, id: string) {
  return sandbox.orders.filter(({ partner_order_id }) => partner_order_id === id);
}
