import { backoffDelay } from '../internal/backoff.ts';
import { invalidOption } from '../internal/options.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import { callHook } from '../internal/warn.ts';
import { isAhead } from '../store/lease.ts';
import type { JournalSettings } from './journal-options.ts';
import type { JournaledOrder } from './journaled-order.ts';
import { type OrderLoop, type OrderLoopOptions, readLoopOptions } from './loop-options.ts';
import type { OpenOrder } from './open-orders.ts';
import type { OrderAttempts } from './order-attempts.ts';
import { isUnsettled, type OrderRecord, stateAt, toJournaledOrder } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import type { SettledReports } from './settled-reports.ts';
import { hookCalled, resumeAttempt } from './transitions.ts';

interface LoopParts<Order> {
  readonly settings: JournalSettings;
  readonly records: OrderStore;
  readonly attempts: OrderAttempts<Order>;
  readonly reports: SettledReports;
}

/** Orders that the loop sends at the same time. */
const mostRunning = 8;
/** The pause before an order is sent again, and after an error: doubled for each further one. */
const retryDelays = { firstDelayMs: 1_000, maxDelayMs: 60_000 };
/** Shorter while new keys are awaited: the order goes out soon after they came. */
const keyDelays = { firstDelayMs: 500, maxDelayMs: 5_000 };

/** Does for each unsettled order what no caller waits for. Several processes may run it over one store. */
export class RunningLoop<Order> implements OrderLoop {
  readonly #options: ReturnType<typeof readLoopOptions>;
  readonly #load: OrderLoopOptions<Order>['load'];
  readonly #parts: LoopParts<Order>;
  readonly #stopping = new AbortController();
  readonly #looping: Promise<void>;
  readonly #running = new Map<string, Promise<void>>();
  /** The orders that could not be loaded; only this process knows them. */
  readonly #loads = new Map<string, { failures: number; again: number }>();
  #queue: OpenOrder[] = [];

  constructor(options: OrderLoopOptions<Order>, parts: LoopParts<Order>) {
    this.#options = readLoopOptions(options);
    // Sound: the table returns the function that it was given.
    this.#load = this.#options.load as OrderLoopOptions<Order>['load'];
    if (!isWholeProcess())
      throw invalidOption('No process stays here to send orders: call create for what unsettled lists.');
    this.#parts = parts;
    this.#looping = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looping;
    await Promise.all(this.#running.values());
  }

  async #run(): Promise<void> {
    const { everyMs, sleep } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      let pauseMs = everyMs;
      try {
        if (this.#queue.length === 0) this.#queue = await this.#due();
        failures = 0;
        this.#fill();
      } catch (error) {
        failures++;
        this.#fail(error);
        pauseMs = Math.max(everyMs, backoffDelay(failures, retryDelays));
      }
      await sleep(pauseMs, signal);
    }
  }

  async #due(): Promise<OpenOrder[]> {
    const { records, settings } = this.#parts;
    const listed = await records.openOrders();
    const digests = new Set(listed.map(({ idDigest }) => idDigest));
    for (const digest of this.#loads.keys()) if (!digests.has(digest)) this.#loads.delete(digest);
    return listed.filter(
      (order) =>
        !this.#running.has(order.idDigest) &&
        (this.#loads.get(order.idDigest)?.again ?? 0) <= settings.now() &&
        this.#job(order) !== undefined,
    );
  }

  #fill(): void {
    while (this.#running.size < mostRunning && !this.#stopping.signal.aborted) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      const { idDigest } = next;
      const done = this.#work(next).finally(() => {
        this.#running.delete(idDigest);
        this.#fill();
      });
      this.#running.set(idDigest, done);
    }
  }

  /** Never rejects. */
  async #work(listed: OpenOrder): Promise<void> {
    let order: JournaledOrder | undefined;
    try {
      const [record] = await this.#parts.records.readOpen([listed]);
      if (record === undefined) return;
      order = this.#show(record);
      const job = this.#job(record);
      if (job === 'send') await this.#send(record, listed.idDigest);
      else if (job !== undefined) await this.#callHookFor(record, job);
    } catch (error) {
      this.#fail(error, order);
    }
  }

  async #send(record: OrderRecord, idDigest: string): Promise<void> {
    const { attempts, reports } = this.#parts;
    const made = await this.#attempt(record).catch((error: unknown) => {
      this.#loadLater(idDigest);
      throw error;
    });
    if (made.kind !== 'sent') return;
    const failure = attempts.failureOf(made.record, made.sent);
    if (failure !== undefined) this.#fail(failure, this.#show(made.record));
    await reports.call(made.record);
  }

  async #attempt(record: OrderRecord) {
    const { attempts, settings } = this.#parts;
    const checked = await attempts.check(await this.#load(this.#show(record)), record);
    const intent = { ...checked.intent, partner_order_id: record.partner_order_id };
    // Replaced since it was loaded: the next look loads it again.
    const isDue = (current: OrderRecord) => current.digest === record.digest && this.#job(current) === 'send';
    const made = await attempts.attempt(
      { ...checked, intent },
      {
        begin: (current, lease) => resumeAttempt(current, intent, { ...lease, isDue }),
        reports: settings.onSettled !== undefined,
      },
    );
    if (made.kind === 'denied') throw made.error;
    return made;
  }

  #loadLater(idDigest: string): void {
    const failures = (this.#loads.get(idDigest)?.failures ?? 0) + 1;
    const again = this.#parts.settings.now() + pauseAfter(failures);
    this.#loads.set(idDigest, { failures, again });
  }

  /** One process at a time. If the hook fails, the claim ends by itself, and it is called again. */
  async #callHookFor(seen: OrderRecord, wanted: Exclude<Job, 'send'>): Promise<void> {
    const { records, reports, settings } = this.#parts;
    const { now, leaseMs } = settings;
    let isClaimed = false;
    const { after: claimed } = await records.update(seen.partner_order_id, (record) => {
      isClaimed = record !== undefined && this.#job(record) === wanted;
      return record && isClaimed ? { ...record, claimedUntil: now() + leaseMs } : record;
    });
    if (claimed === undefined || !isClaimed) return;
    if (wanted === 'report') return await reports.call(claimed);
    const reason = stateAt(claimed, now()) === 'unknown' ? 'outcome_unknown' : 'too_old';
    await this.#options.onUnknown(this.#show(claimed), reason);
    await records.update(claimed.partner_order_id, (record) => record && hookCalled(record, claimed, wanted));
  }

  #job(order: Omit<OpenOrder, 'idDigest'>): Job | undefined {
    const { now, leaseMs, onSettled } = this.#parts.settings;
    return jobOf(order, { ...this.#options, now: now(), leaseMs, reports: onSettled !== undefined });
  }

  #show(record: OrderRecord): JournaledOrder {
    return toJournaledOrder(record, this.#parts.settings.now());
  }

  #fail(error: unknown, order?: JournaledOrder): void {
    callHook('onError of start', () => this.#options.onError(error, order));
  }
}

/** Something to do about an order that no caller waits for. */
export type Job = 'send' | 'report' | 'hand-over';

export interface JobRules extends Record<'now' | 'leaseMs' | 'maxAgeMs' | 'evidenceWithinMs', number> {
  /** There is an `onSettled` to report to. */
  readonly reports: boolean;
}

/** `undefined` if there is nothing to do about it now. */
export function jobOf(
  order: Omit<OpenOrder, 'idDigest'>,
  { now, leaseMs, maxAgeMs, evidenceWithinMs, reports }: JobRules,
): Job | undefined {
  const { claimedUntil = 0, askedAt, changedAt, attempts, notBefore } = order;
  // No claim made now could end so late: the clock was set back, so this one does not count.
  if (claimedUntil > now && !isAhead(claimedUntil - leaseMs, now)) return undefined;
  if (order.unreported === true) return reports ? 'report' : undefined;
  const state = stateAt(order, now);
  if (state === 'sending' || !isUnsettled(order)) return undefined;
  // The reply was lost, or the lease of a process that died is over.
  const unknownSince = order.state === 'sending' ? (order.leaseUntil ?? changedAt) : changedAt;
  const [since, mostMs] = state === 'unknown' ? [unknownSince, evidenceWithinMs] : [askedAt, maxAgeMs];
  if (now - since > mostMs || isAhead(since, now)) return order.handedOver === true ? undefined : 'hand-over';
  if (state === 'unknown') return undefined;
  const delays = state === 'waiting' && notBefore === undefined ? keyDelays : retryDelays;
  const dueAt = Math.max(notBefore ?? 0, changedAt + pauseAfter(attempts, delays));
  return dueAt <= now || isAhead(changedAt, now) ? 'send' : undefined;
}

/** Every process takes the same pause. A prepared order gets the first pause too: its caller may be about to send it. */
export function pauseAfter(attempts: number, { firstDelayMs, maxDelayMs } = retryDelays): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(Math.max(attempts, 1) - 1, 50));
}
