import { describeError, storableText } from '../../internal/driver-error.ts';
import { type Lease, takeLease } from '../../store/lease.ts';
import type { ProcessView } from '../../store/process-identity.ts';
import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import { refuseNewer } from '../../store/stored-form.ts';
import type { DeadLetter, DeadLetterQuery, DeadLetterRead } from '../dead-letters.ts';
import { toDeadLetter } from '../dead-letters.ts';
import { type LeasedDelivery, leaseLost } from '../handling-attempt.ts';
import { type Handling, leaseMsOf, longestWaitMsOf } from '../handling-options.ts';
import type { Delivery, InboxCounts } from '../inbox.ts';
import type { MarkResult } from '../marking.ts';
import {
  deliveryForm,
  deliveryIndexes,
  deliveryKey,
  handledRecord,
  isHandledRecord,
  type StoredDelivery,
} from './record-form.ts';

/** A delivery leased from a record store. */
export interface RecordLease extends LeasedDelivery {
  /** Identifies the lease: another worker may have the delivery by now. */
  readonly token: string;
  readonly alone: boolean;
  /** Where the lease is indexed. */
  readonly index: string;
}

export interface DeliveryRecordsOptions
  extends Pick<Handling, 'timeLimitMs' | 'retry' | 'ignoreAfterMs' | 'rememberMs' | 'maxAttempts' | 'now'> {
  readonly store: RecordStore;
  /**
   * For changes that wait for nobody, so that they may share a transaction. A transaction of the user's may hold a
   * delivery that is marked in it: no other delivery has to wait for that.
   */
  readonly shared: RecordStore;
  readonly prefix: string;
  readonly processes: ProcessView;
}

export type DeliveryRecords = ReturnType<typeof deliveryRecords>;

/** A lease writes three records of each, and a transaction has up to 1,000. */
const mostLeased = 300;
const mostRead = 100;
/** The most records that `list` of a store returns. */
const largestPage = 1_000;
/** A start looks at no more leases than this: those after them end by themselves. */
const mostLooked = 1_000;
const digestForm = /^[0-9a-f]{64}$/;

/**
 * The deliveries of an inbox in a record store. Each has one record by its digest, which stays as the memory of the
 * digest once it is handled, and one index record, whose key says where it is in which order.
 */
export function deliveryRecords(options: DeliveryRecordsOptions) {
  const { store, shared, prefix, rememberMs, maxAttempts, now, processes } = options;
  const leaseMs = leaseMsOf(options);
  const longestWaitMs = longestWaitMsOf(options);
  const indexes = deliveryIndexes(options);
  const findDue = (index: 'due' | 'alone', limit: number) =>
    indexes[index].findDue({ limit, now: now(), longestWaitMs });

  const take = (now: number) => takeLease({ now, leaseMs, processes });
  const recordKey = (digest: string) => deliveryKey(prefix, digest);
  const waitingKey = ({ delivery, alone }: Pick<StoredDelivery, 'delivery' | 'alone'>, at: number) =>
    indexes[alone ? 'alone' : 'due'].keyOf(at, delivery.digest);

  /**
   * @param where.at the reading of the clock that `index` was made from: it may be set back meanwhile
   * @param where.from the key of its index record until now
   */
  function put(
    records: RecordSet,
    stored: StoredDelivery,
    { at, from = stored.index }: { readonly at: number; readonly from?: string },
  ): void {
    const { delivery, index, receivedAt } = stored;
    const key = recordKey(delivery.digest);
    const entry = indexes.due.write({ receivedAt }, { at, former: records.get(from) });
    records.set(key, deliveryForm.write(stored, records.get(key)));
    records.delete(from);
    records.set(index, entry);
  }

  /** Nothing of the delivery stays but its digest. */
  function putHandled(records: RecordSet, digest: string): void {
    const expiresAt = Math.min(Math.floor(now()) + rememberMs, Number.MAX_SAFE_INTEGER);
    records.set(recordKey(digest), handledRecord, { expiresAt });
  }

  /**
   * Changes a delivery together with the index record that it has now; `undefined` if there is none.
   *
   * @param further more keys of the transaction
   */
  async function change<Result>(
    digest: string,
    apply: (stored: StoredDelivery, records: RecordSet) => Result,
    further: (stored: StoredDelivery) => readonly string[] = () => [],
  ): Promise<Result | undefined> {
    if (!digestForm.test(digest)) return undefined;
    const key = recordKey(digest);
    for (;;) {
      const seen = await store.transact([key], (records) => deliveryForm.read(records.get(key)));
      if (seen === undefined) return undefined;
      const changeSeen = (records: RecordSet) => {
        const stored = deliveryForm.read(records.get(key));
        return stored?.index === seen.index ? { result: apply(stored, records) } : undefined;
      };
      const done = await store.transact([key, seen.index, ...further(seen)], changeSeen);
      if (done !== undefined) return done.result;
    }
  }

  return {
    async insert(delivery: Delivery): Promise<'stored' | 'duplicate'> {
      if (!digestForm.test(delivery.digest))
        throw new TypeError('The digest of a delivery is 64 hexadecimal digits.');
      const key = recordKey(delivery.digest);
      const receivedAt = Math.floor(now());
      const index = indexes.due.keyOf(receivedAt, delivery.digest);
      return await shared.transact([key, index], (records) => {
        if (refuseNewer(records.get(key), 'The delivery') !== undefined) return 'duplicate';
        // PostgreSQL takes no text with the character 0, which a sender may put into a name.
        const named = { ...delivery, name: storableText(delivery.name) };
        const stored = { delivery: named, receivedAt, attempts: 0, reason: '', index, alone: false };
        put(records, stored, { at: receivedAt });
        return 'stored';
      });
    },

    /** Leases up to `limit` due deliveries that may run side by side. */
    async lease(limit: number): Promise<{ leased: RecordLease[]; pauseMs: number }> {
      const { due, pauseMs } = await findDue('due', Math.min(limit, mostLeased));
      if (due.length === 0) return { leased: [], pauseMs };
      const at = now();
      const lease = take(at);
      const wanted = due.map(({ key, digest }) => {
        return { key, digest, record: recordKey(digest), index: indexes.alone.keyOf(lease.until, digest) };
      });
      const keys = wanted.flatMap(({ key, record, index }) => [key, record, index]);
      const leaseWanted = (records: RecordSet) =>
        wanted.flatMap(({ key, record, index }) => {
          // Another worker has it.
          if (records.get(key) === undefined) return [];
          const stored = deliveryForm.read(records.get(record));
          if (stored?.index !== key) {
            records.delete(key);
            return [];
          }
          const next = { ...stored, attempts: stored.attempts + 1, index, lease };
          put(records, next, { at, from: key });
          return [next];
        });
      const leased = await shared.transact(keys, leaseWanted);
      return { leased: leased.map((stored) => toLease(stored, lease)), pauseMs: 0 };
    },

    async isAloneDue(): Promise<boolean> {
      return (await findDue('alone', 1)).due.length > 0;
    },

    /** Leases one delivery that has to be tried alone. Those whose last attempt lost its lease become dead letters. */
    async leaseAlone(): Promise<{ leased: RecordLease | undefined; dead: RecordLease[] }> {
      const lost: RecordLease[] = [];
      for (;;) {
        const [entry] = (await findDue('alone', 1)).due;
        if (entry === undefined) return { leased: undefined, dead: lost };
        const { key, digest } = entry;
        const at = now();
        const lease = take(at);
        const index = indexes.alone.keyOf(lease.until, digest);
        const deadIndex = indexes.dead.keyOf(entry.value.receivedAt, digest);
        const leaseOrEnd = (records: RecordSet) => {
          if (records.get(key) === undefined) return undefined;
          const stored = deliveryForm.read(records.get(recordKey(digest)));
          if (stored?.index !== key) {
            records.delete(key);
            return undefined;
          }
          const isLost = stored.lease !== undefined;
          if (isLost && stored.alone && stored.attempts >= maxAttempts) {
            const reason = describeError(leaseLost());
            const letter = { ...stored, index: deadIndex, reason, lease: undefined };
            put(records, letter, { at, from: key });
            return letter;
          }
          // A lease lost while others ran is no attempt: any of them may have killed the process.
          const attempts = stored.attempts + (isLost && !stored.alone ? 0 : 1);
          const leased = { ...stored, attempts, index, alone: true, lease };
          put(records, leased, { at, from: key });
          return leased;
        };
        const next = await store.transact([key, recordKey(digest), index, deadIndex], leaseOrEnd);
        if (next === undefined) continue;
        const delivery = toLease(next, lease);
        if (next.index === index) return { leased: delivery, dead: lost };
        lost.push(delivery);
      }
    },

    /**
     * Ends the leases of processes that have ended. Their deliveries are due alone: at once, or after a pause if their
     * process had them alone already, since they may end the next one too.
     */
    async freeEnded(pauseMsOf: (attempt: number) => number): Promise<void> {
      const at = now();
      for await (const entries of indexes.alone.pages({ size: mostRead, most: mostLooked, from: at })) {
        const keys = entries.map(({ digest }) => recordKey(digest));
        const read = (records: RecordSet) => keys.map((key) => deliveryForm.read(records.get(key)));
        for (const stored of await store.transact(keys, read)) {
          if (stored?.lease?.holder === undefined || !processes.hasEnded(stored.lease.holder)) continue;
          const pauseMs = stored.alone ? pauseMsOf(stored.attempts) : 0;
          const to = indexes.alone.keyOf(Math.min(at + pauseMs, stored.lease.until), stored.delivery.digest);
          // Its lease stays, as one that was lost.
          await move(toLease(stored, stored.lease), { to, at }, (held) => held);
        }
      }
    },

    /** Stays remembered, whoever has it by now. */
    async remove(lease: RecordLease): Promise<void> {
      if ((await end(lease, shared)) !== 'marked') await change(lease.delivery.digest, forget);
    },

    /** Marks it handled, as `remove` does, through another store: one in a transaction of the user's. */
    mark: (lease: RecordLease, userStore: RecordStore): Promise<MarkResult> => end(lease, userStore),

    /** Whether only its digest is left. */
    async isHandled({ delivery: { digest } }: RecordLease): Promise<boolean> {
      const key = recordKey(digest);
      return await store.transact([key], (records) => isHandledRecord(records.get(key)));
    },

    /** Schedules another attempt, unless another worker has it by now. */
    async postpone(lease: RecordLease, delayMs: number, reason: string): Promise<void> {
      const at = now();
      await move(lease, { to: waitingKey(lease, at + delayMs), at }, (stored) => ({
        ...stored,
        reason,
        lease: undefined,
      }));
    },

    /** Gives it back as it was, due after this time: this was no attempt. */
    async putBack(lease: RecordLease, delayMs: number): Promise<void> {
      const at = now();
      const to = waitingKey(lease, at + delayMs);
      await move(lease, { to, at }, (stored) => ({
        ...stored,
        // If the clock went back, its wait begins anew, so that it ends.
        receivedAt: Math.min(stored.receivedAt, Math.floor(at)),
        attempts: stored.attempts - 1,
        lease: undefined,
      }));
    },

    /** False if another worker has it by now. */
    moveToDeadLetters(lease: RecordLease, reason: string): Promise<boolean> {
      const at = now();
      const index = indexes.dead.keyOf(lease.receivedAt, lease.delivery.digest);
      return move(lease, { to: index, at }, (stored) => ({ ...stored, reason, lease: undefined }));
    },

    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const found: DeadLetter[] = [];
      for await (const entries of indexes.dead.pages({ size: mostRead, most: limit })) {
        const keys = entries.map(({ digest }) => recordKey(digest));
        const values = await store.transact(keys, (records) => keys.map((key) => records.get(key)));
        for (const value of values) {
          const stored = deliveryForm.read(value);
          if (stored !== undefined && isDead(stored)) found.push(readDeadLetter(stored, { withBody }));
        }
      }
      return found;
    },

    deadLetter: (digest: string, read: DeadLetterRead): Promise<DeadLetter | undefined> =>
      change(digest, (stored) => (isDead(stored) ? readDeadLetter(stored, read) : undefined)),

    async replay(digest: string): Promise<boolean> {
      const at = now();
      function putBack(stored: StoredDelivery, records: RecordSet): boolean {
        if (!isDead(stored)) return false;
        const waiting = { ...stored, attempts: 0, index: waitingKey(stored, at) };
        put(records, waiting, { at, from: stored.index });
        return true;
      }
      return (await change(digest, putBack, (stored) => [waitingKey(stored, at)])) ?? false;
    },

    async discard(digest: string): Promise<boolean> {
      const found = await change(digest, (stored, records) => {
        if (isDead(stored)) forget(stored, records);
        return isDead(stored);
      });
      return found ?? false;
    },

    async counts(): Promise<InboxCounts> {
      const counts = await Promise.all(Object.values(indexes).map((index) => index.count()));
      const [waiting = 0, alone = 0, dead = 0] = counts;
      return { open: waiting + alone, dead };
    },

    /** Of the first page of each index: all of them, or those that are due first. */
    async oldestReceivedAt(): Promise<number | undefined> {
      const pages = await Promise.all([indexes.due, indexes.alone].map(({ list }) => list(largestPage)));
      const [first, ...others] = pages.flat().map(({ value }) => value.receivedAt);
      return first === undefined ? undefined : others.reduce((oldest, at) => Math.min(oldest, at), first);
    },

    /** How many are open, but no more than this. */
    async countOpen(most: number): Promise<number> {
      const waiting = await indexes.due.count(most);
      return waiting + (await indexes.alone.count(most - waiting));
    },
  };

  function isDead({ index }: StoredDelivery): boolean {
    return indexes.dead.holds(index);
  }

  function forget({ delivery, index }: StoredDelivery, records: RecordSet): void {
    putHandled(records, delivery.digest);
    records.delete(index);
  }

  /** Leaves only the digest of a delivery, unless another worker has it by now. */
  function end(
    { delivery: { digest }, token, index }: RecordLease,
    through: RecordStore,
  ): Promise<MarkResult> {
    const key = recordKey(digest);
    return through.transact([key, index], (records) => {
      const value = records.get(key);
      if (value === undefined) return 'absent';
      if (deliveryForm.read(value)?.lease?.token !== token) return 'lost';
      putHandled(records, digest);
      records.delete(index);
      return 'marked';
    });
  }

  /** Moves a leased delivery in the indexes; false if another worker has it, or has moved it, by now. */
  function move(
    { delivery: { digest }, token, index: from }: RecordLease,
    { to, at }: { readonly to: string; readonly at: number },
    update: (stored: StoredDelivery) => StoredDelivery,
  ): Promise<boolean> {
    const key = recordKey(digest);
    return store.transact([key, from, to], (records) => {
      const stored = deliveryForm.read(records.get(key));
      if (stored?.lease?.token !== token || stored.index !== from) return false;
      put(records, { ...update(stored), index: to }, { at, from });
      return true;
    });
  }

  function toLease(stored: StoredDelivery, { token }: Lease): RecordLease {
    const { delivery, attempts: attempt, receivedAt, alone, index } = stored;
    return { delivery, attempt, receivedAt, alone, index, token };
  }
}

function readDeadLetter(
  { delivery, receivedAt, ...state }: StoredDelivery,
  read: DeadLetterRead,
): DeadLetter {
  return toDeadLetter(delivery, { ...state, receivedAt: new Date(receivedAt) }, read);
}
