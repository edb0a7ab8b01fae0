import { backoffDelay } from '../internal/backoff.ts';
import { invalidOption } from '../internal/options.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import { callHook } from '../internal/warn.ts';
import { type Job, jobOf, pauseAfter } from './jobs.ts';
import type { JournalSettings } from './journal-options.ts';
import type { JournaledOrder } from './journaled-order.ts';
import { type OrderLoop, type OrderLoopOptions, readLoopOptions } from './loop-options.ts';
import type { OpenOrder } from './open-orders.ts';
import type { OrderAttempts } from './order-attempts.ts';
import { type OrderRecord, stateAt, toJournaledOrder } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import type { SettledReports } from './settled-reports.ts';
import { hookCalled, resumeAttempt } from './transitions.ts';

interface LoopParts<Order> {
  readonly settings: JournalSettings;
  readonly records: OrderStore;
  readonly attempts: OrderAttempts<Order>;
  readonly reports: SettledReports;
}

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
  /** Waiting orders that are being sent: one at a time while the service refuses keys, or wants fewer requests. */
  #probes = 0;
  /** Refusals in a row. The first waiting order finds out whether the service still refuses. */
  #refusals = 1;
  #nextProbeAt = 0;

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
    const { everyMs, retry, sleep } = this.#options;
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
        pauseMs = Math.max(everyMs, backoffDelay(failures, retry));
      }
      await sleep(pauseMs, signal);
    }
  }

  async #due(): Promise<OpenOrder[]> {
    const { records, settings } = this.#parts;
    const listed = await records.openOrders();
    const digests = new Set(listed.map(({ idDigest }) => idDigest));
    for (const digest of this.#loads.keys()) if (!digests.has(digest)) this.#loads.delete(digest);
    const isDue = (order: OpenOrder) =>
      !this.#running.has(order.idDigest) &&
      (this.#loads.get(order.idDigest)?.again ?? 0) <= settings.now() &&
      this.#job(order) !== undefined;
    const due = listed.filter(isDue);
    const isWaiting = (order: OpenOrder) => order.state === 'waiting' && this.#job(order) === 'send';
    const waiting = due.filter(isWaiting).slice(0, Math.max(0, this.#mostProbes() - this.#probes));
    return [...due.filter((order) => !isWaiting(order)), ...waiting];
  }

  #mostProbes(): number {
    if (this.#parts.settings.now() < this.#nextProbeAt) return 0;
    return this.#refusals === 0 ? Number.POSITIVE_INFINITY : 1;
  }

  #noteRefusal(state: OrderRecord['state']): void {
    if (state === 'not-sent') return;
    const isRefused = state === 'waiting';
    const pauseMs = pauseAfter(this.#refusals, { firstDelayMs: 500, maxDelayMs: 5_000 });
    this.#refusals = isRefused ? this.#refusals + 1 : 0;
    this.#nextProbeAt = isRefused ? this.#parts.settings.now() + pauseMs : 0;
  }

  #fill(): void {
    while (this.#running.size < this.#options.concurrency && !this.#stopping.signal.aborted) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      const { idDigest } = next;
      const isProbe = next.state === 'waiting';
      if (isProbe) this.#probes++;
      const done = this.#work(next).finally(() => {
        this.#running.delete(idDigest);
        if (isProbe) this.#probes--;
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
    const { attempts, reports, settings } = this.#parts;
    const made = await this.#attempt(record).catch((error: unknown) => {
      this.#loadLater(idDigest);
      throw error;
    });
    if (made.kind !== 'sent') return;
    const failure = attempts.failureOf(made.record, made.sent);
    this.#noteRefusal(stateAt(made.record, settings.now()));
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
    const again = this.#parts.settings.now() + pauseAfter(failures, this.#options.retry);
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
