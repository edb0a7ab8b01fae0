import { backoffDelay } from '../internal/backoff.ts';
import { invalidOption } from '../internal/options.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import { callHook } from '../internal/warn.ts';
import { type Job, jobOf, pauseAfter } from './jobs.ts';
import type { JournalSettings } from './journal-options.ts';
import type { JournaledOrder } from './journaled-order.ts';
import { type OrderLoop, type OrderLoopOptions, readLoopOptions } from './loop-options.ts';
import type { OpenOrder } from './open-orders.ts';
import type { orderAttempts } from './order-attempts.ts';
import { type OrderRecord, orderError, stateAt } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import { hookCalled, resumeAttempt } from './transitions.ts';

interface LoopParts<Order> extends ReturnType<typeof orderAttempts<Order>> {
  readonly records: OrderStore;
  readonly settings: JournalSettings;
  readonly report: (record: OrderRecord) => Promise<void>;
  readonly show: (record: OrderRecord) => JournaledOrder;
}

/** Does for each unsettled order what no caller waits for. Several processes may run it over one store. */
export function startOrderLoop<Order>(
  options: OrderLoopOptions<Order>,
  { check, attempt, failureOf, report, show, records, settings }: LoopParts<Order>,
): OrderLoop {
  const { everyMs, maxAgeMs, evidenceWithinMs, onUnknown, onError, retry, concurrency, ...given } =
    readLoopOptions(options);
  // Sound: the table returns the function that it was given.
  const load = given.load as OrderLoopOptions<Order>['load'];
  if (!isWholeProcess())
    throw invalidOption('No process stays here to send orders: call create for what unsettled lists.');
  const { now, leaseMs, onSettled } = settings;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const refusals = refusalPauses(now);
  /** The orders that `load` did not give; only this process knows them. */
  const loads = new Map<string, { failures: number; again: number }>();
  let queue: OpenOrder[] = [];
  /** Waiting orders that are being sent. */
  let probes = 0;

  const job = (order: Omit<OpenOrder, 'idDigest'>) =>
    jobOf(order, {
      now: now(),
      leaseMs,
      maxAgeMs,
      evidenceWithinMs,
      retry,
      reports: onSettled !== undefined,
    });
  const fail = (error: unknown, order?: JournaledOrder) =>
    callHook('onError of start', () => onError(error, order));

  async function loop(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      let pauseMs = everyMs;
      try {
        if (queue.length === 0) queue = await due();
        failures = 0;
        fill();
      } catch (error) {
        failures++;
        fail(error);
        pauseMs = Math.max(everyMs, backoffDelay(failures, retry));
      }
      await given.sleep(pauseMs, stopping.signal);
    }
  }

  async function due(): Promise<OpenOrder[]> {
    const listed = await records.openOrders();
    const digests = new Set(listed.map(({ idDigest }) => idDigest));
    for (const digest of loads.keys()) if (!digests.has(digest)) loads.delete(digest);
    const found = listed.filter(
      (order) =>
        !running.has(order.idDigest) &&
        (loads.get(order.idDigest)?.again ?? 0) <= now() &&
        job(order) !== undefined,
    );
    const isWaiting = (order: OpenOrder) => order.state === 'waiting' && job(order) === 'send';
    const waiting = found.filter(isWaiting).slice(0, Math.max(0, refusals.most() - probes));
    return [...found.filter((order) => !isWaiting(order)), ...waiting];
  }

  function fill(): void {
    while (running.size < concurrency && !stopping.signal.aborted) {
      const next = queue.shift();
      if (next === undefined) return;
      const { idDigest } = next;
      const isProbe = next.state === 'waiting';
      if (isProbe) probes++;
      const done = work(next).finally(() => {
        running.delete(idDigest);
        if (isProbe) probes--;
        fill();
      });
      running.set(idDigest, done);
    }
  }

  /** Never rejects. */
  async function work(listed: OpenOrder): Promise<void> {
    let order: JournaledOrder | undefined;
    try {
      const [record] = await records.readOpen([listed]);
      if (record === undefined) return;
      order = show(record);
      const found = job(record);
      if (found === 'send') await send(record, listed.idDigest);
      else if (found !== undefined) await callHookFor(record, found);
    } catch (error) {
      fail(error, order);
    }
  }

  async function send(record: OrderRecord, idDigest: string): Promise<void> {
    let sent: Awaited<ReturnType<typeof attempt>>;
    let isDoubtNew = false;
    try {
      const checked = await check(await load(show(record)), record);
      const intent = { ...checked.intent, partner_order_id: record.partner_order_id };
      sent = await attempt(
        { ...checked, intent },
        {
          begin: (found, lease) => {
            // Replaced since it was loaded: the next look loads it again.
            const isDue = (each: OrderRecord) => each.digest === record.digest && job(each) === 'send';
            const begun = resumeAttempt(found, intent, { ...lease, isDue });
            isDoubtNew = begun.attention === 'payload' && found?.attention === undefined;
            return begun;
          },
          reports: onSettled !== undefined,
        },
      );
      if (sent.kind === 'denied') throw sent.error;
      if (isDoubtNew) throw orderError('different_order', sent.record, { now: now() });
      if (sent.kind === 'known' && sent.record.attention === 'payload') return loadLater(idDigest);
      loads.delete(idDigest);
    } catch (error) {
      loadLater(idDigest);
      throw error;
    }
    if (sent.kind !== 'sent') return;
    const failure = failureOf(sent.record, sent.sent);
    refusals.note(stateAt(sent.record, now()));
    if (failure !== undefined) fail(failure, show(sent.record));
    await report(sent.record);
  }

  function loadLater(idDigest: string): void {
    const failures = (loads.get(idDigest)?.failures ?? 0) + 1;
    loads.set(idDigest, { failures, again: now() + pauseAfter(failures, retry) });
  }

  /** One process at a time. If the hook fails, the claim ends by itself, and it is called again. */
  async function callHookFor(seen: OrderRecord, wanted: Exclude<Job, 'send'>): Promise<void> {
    let isClaimed = false;
    const claimed = await records.update(seen.partner_order_id, (record) => {
      isClaimed = record !== undefined && job(record) === wanted;
      return record && isClaimed ? { ...record, claimedUntil: now() + leaseMs } : record;
    });
    if (claimed === undefined || !isClaimed) return;
    if (wanted === 'report') return await report(claimed);
    const state = stateAt(claimed, now());
    await onUnknown(show(claimed), state === 'unknown' ? 'outcome_unknown' : 'too_old');
    await records.update(claimed.partner_order_id, (record) => record && hookCalled(record, claimed, wanted));
  }

  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
      await Promise.all(running.values());
    },
  };
}

/** Lets one order at a time find out whether the service still refuses keys, or wants fewer requests. */
function refusalPauses(now: () => number) {
  let refusals = 1;
  let again = 0;
  return {
    /** Most waiting orders to send now. */
    most(): number {
      if (now() < again) return 0;
      return refusals === 0 ? Number.POSITIVE_INFINITY : 1;
    },
    /** The state of an order after a request. */
    note(state: OrderRecord['state']): void {
      if (state === 'not-sent') return;
      refusals = state === 'waiting' ? refusals + 1 : 0;
      again =
        state === 'waiting' ? now() + pauseAfter(refusals - 1, { firstDelayMs: 500, maxDelayMs: 5_000 }) : 0;
    },
  };
}
