import { describeError } from '../../internal/driver-error.ts';
import { type Lease, takeLease } from '../../store/lease.ts';
import type { ProcessView } from '../../store/process-identity.ts';
import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import { type LeasedDelivery, leaseLost } from '../handling-attempt.ts';
import { type Handling, leaseMsOf, longestWaitMsOf } from '../handling-options.ts';
import type { MarkResult } from '../marking.ts';
import type { DeliveryTable, DeliveryTableOptions } from './delivery-table.ts';
import { isHandledRecord, type StoredDelivery } from './record-form.ts';

/** A delivery leased from a record store. */
export interface RecordLease extends LeasedDelivery {
  /** Identifies the lease: another worker may have the delivery by now. */
  readonly token: string;
  readonly alone: boolean;
  /** Where the lease is indexed. */
  readonly index: string;
}

export interface DeliveryLeasesOptions
  extends DeliveryTableOptions,
    Pick<Handling, 'timeLimitMs' | 'retry' | 'maxAttempts'> {
  /**
   * Batches changes that wait for no lock, so that they may share a transaction. A transaction of the user's may hold a
   * delivery that is marked in it: no other delivery has to wait for that.
   */
  readonly shared: RecordStore;
  readonly processes: ProcessView;
}

export type DeliveryLeases = ReturnType<typeof deliveryLeases>;

/** A lease writes three records of each, and a transaction has up to 1,000. */
const mostLeased = 300;
/** A start looks at no more leases than this: those after them end by themselves. */
const mostLooked = 1_000;

/** Leases deliveries to one worker at a time, and writes how each lease ended. */
export function deliveryLeases(table: DeliveryTable, options: DeliveryLeasesOptions) {
  const { shared, store, maxAttempts, now, processes } = options;
  const leaseMs = leaseMsOf(options);
  const longestWaitMs = longestWaitMsOf(options);
  const { indexes, keyOf } = table;
  const ends = leaseEnds(table, options);
  const findDue = (index: 'due' | 'alone', limit: number) =>
    indexes[index].findDue({ limit, now: now(), longestWaitMs });
  const take = (now: number) => takeLease({ now, leaseMs, processes });

  /** The delivery of an index record; without it, the index record is a leftover, or another worker has it. */
  function readIndexed(
    records: RecordSet,
    { key, digest }: { readonly key: string; readonly digest: string },
  ) {
    if (records.get(key) === undefined) return undefined;
    const stored = table.read(records, digest);
    if (stored?.index === key) return stored;
    records.delete(key);
    return undefined;
  }

  /** What becomes of a delivery that has to be tried alone: a new lease, or a dead letter if its last one was lost. */
  function leaseOrEnd(stored: StoredDelivery, lease: Lease): StoredDelivery {
    const { digest } = stored.delivery;
    const isLost = stored.lease !== undefined;
    if (isLost && stored.alone && stored.attempts >= maxAttempts) {
      const index = indexes.dead.keyOf(stored.receivedAt, digest);
      return { ...stored, index, reason: describeError(leaseLost()), lease: undefined };
    }
    // A lease lost while others ran is no attempt: any of them may have killed the process.
    const attempts = stored.attempts + (isLost && !stored.alone ? 0 : 1);
    return { ...stored, attempts, index: indexes.alone.keyOf(lease.until, digest), alone: true, lease };
  }

  return {
    ...ends,

    /** Leases up to `limit` due deliveries that may run side by side. */
    async lease(limit: number): Promise<{ leased: RecordLease[]; pauseMs: number }> {
      const { due, pauseMs } = await findDue('due', Math.min(limit, mostLeased));
      if (due.length === 0) return { leased: [], pauseMs };
      const at = now();
      const lease = take(at);
      const indexOf = (digest: string) => indexes.alone.keyOf(lease.until, digest);
      const keys = due.flatMap(({ key, digest }) => [key, keyOf(digest), indexOf(digest)]);
      const leased = await shared.transact(keys, (records) =>
        due.flatMap((entry) => {
          const stored = readIndexed(records, entry);
          if (stored === undefined) return [];
          const next = { ...stored, attempts: stored.attempts + 1, index: indexOf(entry.digest), lease };
          table.put(records, next, { at, from: entry.key });
          return [next];
        }),
      );
      return { leased: leased.map((stored) => toLease(stored, lease)), pauseMs: 0 };
    },

    async isAloneDue(): Promise<boolean> {
      return (await findDue('alone', 1)).due.length > 0;
    },

    /** Leases one delivery that has to be tried alone. Those whose last attempt lost its lease become dead letters. */
    async leaseAlone(): Promise<{ leased: RecordLease | undefined; dead: RecordLease[] }> {
      const dead: RecordLease[] = [];
      for (;;) {
        const [entry] = (await findDue('alone', 1)).due;
        if (entry === undefined) return { leased: undefined, dead };
        const { key, digest, value } = entry;
        const at = now();
        const lease = take(at);
        const further = [
          indexes.alone.keyOf(lease.until, digest),
          indexes.dead.keyOf(value.receivedAt, digest),
        ];
        const next = await store.transact([key, keyOf(digest), ...further], (records) => {
          const stored = readIndexed(records, entry);
          const changed = stored && leaseOrEnd(stored, lease);
          if (changed !== undefined) table.put(records, changed, { at, from: key });
          return changed;
        });
        if (next === undefined) continue;
        const delivery = toLease(next, lease);
        if (!table.isDead(next)) return { leased: delivery, dead };
        dead.push(delivery);
      }
    },

    /**
     * Ends the leases of processes that have ended. Their deliveries are due alone: at once, or after a pause if their
     * process had them alone already, since they may end the next one too.
     */
    async freeEnded(pauseMsOf: (attempt: number) => number): Promise<void> {
      const at = now();
      for await (const entries of indexes.alone.pages(mostLooked, at)) {
        for (const stored of await table.readAll(entries.map(({ digest }) => digest))) {
          if (stored?.lease?.holder === undefined || !processes.hasEnded(stored.lease.holder)) continue;
          const pauseMs = stored.alone ? pauseMsOf(stored.attempts) : 0;
          await ends.free(toLease(stored, stored.lease), Math.min(at + pauseMs, stored.lease.until), at);
        }
      }
    },
  };
}

/** Writes how a lease ended, unless another worker has the delivery by now. */
function leaseEnds(
  table: DeliveryTable,
  { store, shared, now }: Pick<DeliveryLeasesOptions, 'store' | 'shared' | 'now'>,
) {
  const { indexes, keyOf } = table;

  /** Leaves only the digest of a delivery. */
  function end({ delivery, token, index }: RecordLease, through: RecordStore): Promise<MarkResult> {
    const { digest } = delivery;
    return through.transact([keyOf(digest), index], (records) => {
      if (records.get(keyOf(digest)) === undefined) return 'absent';
      if (table.read(records, digest)?.lease?.token !== token) return 'lost';
      table.forget(records, { digest, index });
      return 'marked';
    });
  }

  /** Moves a leased delivery in the indexes; false if another worker has it, or has moved it, by now. */
  function move(
    { delivery: { digest }, token, index: from }: RecordLease,
    { to, at }: { readonly to: string; readonly at: number },
    update: (stored: StoredDelivery) => StoredDelivery,
  ): Promise<boolean> {
    return store.transact([keyOf(digest), from, to], (records) => {
      const stored = table.read(records, digest);
      if (stored?.lease?.token !== token || stored.index !== from) return false;
      table.put(records, { ...update(stored), index: to }, { at, from });
      return true;
    });
  }

  return {
    /** Stays remembered, even if another worker has it by now. */
    async remove(lease: RecordLease): Promise<void> {
      const { digest } = lease.delivery;
      if ((await end(lease, shared)) !== 'marked')
        await table.change(digest, ({ index }, records) => table.forget(records, { digest, index }));
    },

    /** Marks it handled, as `remove` does, through another store: one in a transaction of the user's. */
    mark: (lease: RecordLease, userStore: RecordStore): Promise<MarkResult> => end(lease, userStore),

    /** Whether only its digest is left. */
    isHandled({ delivery }: RecordLease): Promise<boolean> {
      const key = keyOf(delivery.digest);
      return store.transact([key], (records) => isHandledRecord(records.get(key)));
    },

    /** Schedules another attempt. */
    async postpone(lease: RecordLease, delayMs: number, reason: string): Promise<void> {
      const at = now();
      const to = table.waitingKey(lease, at + delayMs);
      await move(lease, { to, at }, (stored) => ({ ...stored, reason, lease: undefined }));
    },

    /** Gives it back as it was, due after this time: this was no attempt. */
    async putBack(lease: RecordLease, delayMs: number): Promise<void> {
      const at = now();
      const to = table.waitingKey(lease, at + delayMs);
      await move(lease, { to, at }, (stored) => ({
        ...stored,
        // If the clock went back, its wait begins anew, so that it ends.
        receivedAt: Math.min(stored.receivedAt, Math.floor(at)),
        attempts: stored.attempts - 1,
        lease: undefined,
      }));
    },

    /** Has it tried alone from `dueAt` on. Its lease stays, as one that was lost. */
    async free(lease: RecordLease, dueAt: number, at: number): Promise<void> {
      const to = indexes.alone.keyOf(dueAt, lease.delivery.digest);
      await move(lease, { to, at }, (held) => held);
    },

    /** False if another worker has it by now. */
    moveToDeadLetters(lease: RecordLease, reason: string): Promise<boolean> {
      const at = now();
      const to = indexes.dead.keyOf(lease.receivedAt, lease.delivery.digest);
      return move(lease, { to, at }, (stored) => ({ ...stored, reason, lease: undefined }));
    },
  };
}

function toLease(stored: StoredDelivery, { token }: Lease): RecordLease {
  const { delivery, attempts: attempt, receivedAt, alone, index } = stored;
  return { delivery, attempt, receivedAt, alone, index, token };
}
