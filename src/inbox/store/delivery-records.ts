import { describeError } from '../../internal/describe-error.ts';
import type { JsonObject, JsonValue } from '../../internal/json.ts';
import type { RecordSet, RecordStore, StoredRecord } from '../../store/record-store.ts';
import { type LeasedDelivery, leaseLost } from '../attempt.ts';
import { type Handling, leaseMsOf, longestWaitMsOf } from '../handling-options.ts';
import type { DeadLetter, DeadLetterQuery, DeadLetterRead, Delivery, InboxCounts } from '../inbox.ts';
import { toDeadLetter } from '../inbox.ts';
import { findDelivery, membersOf, writeDelivery } from '../stored-delivery.ts';

/** A delivery leased from a record store. */
export interface RecordLease extends LeasedDelivery {
  /** Identifies the lease: another worker may have the delivery by now. */
  readonly token: string;
  readonly isolated: boolean;
  /** Where the lease is indexed. */
  readonly index: string;
}

export interface DeliveryRecordsOptions
  extends Pick<Handling, 'timeLimitMs' | 'retry' | 'rememberMs' | 'maxAttempts' | 'now'> {
  readonly store: RecordStore;
  readonly prefix: string;
}

/** An open delivery or a dead letter, as its record holds it. */
interface Stored {
  readonly delivery: Delivery;
  readonly receivedAt: number;
  readonly attempts: number;
  readonly reason: string;
  /** The key of its index record. */
  readonly index: string;
  /** It lost a lease once, and is tried alone from then on. */
  readonly isolated: boolean;
  /** The token of its lease; absent while it waits and when it is dead. */
  readonly lease?: string | undefined;
}

/**
 * `due`: by when they may be handled beside others. `alone`: by when they may be handled alone; a leased delivery is
 * here by the end of its lease. `dead`: by when they were received.
 */
type IndexName = 'due' | 'alone' | 'dead';

interface IndexEntry {
  readonly key: string;
  readonly digest: string;
  /** Milliseconds since the epoch, of which the index is in order. */
  readonly at: number;
  readonly receivedAt: number;
  readonly writtenAt: number;
}

/** A lease writes three records of each, and a transaction has up to 1,000. */
const mostLeased = 300;
const mostRead = 100;
const digestForm = /^[0-9a-f]{64}$/;
/** Clocks of two machines differ by less. */
const clockSlackMs = 60_000;

/**
 * The deliveries of an inbox in a record store. Each has one record by its digest, which stays as the memory of the
 * digest once it is handled, and one index record, whose key says where it is in which order.
 */
export function deliveryRecords(options: DeliveryRecordsOptions) {
  const { store, prefix, timeLimitMs, rememberMs, maxAttempts, now } = options;
  const leaseMs = leaseMsOf(options);
  const longestWaitMs = longestWaitMsOf(options);

  const recordKey = (digest: string) => `${prefix}delivery/${digest}`;
  const indexPrefix = (name: IndexName) => `${prefix}${name}/`;
  const indexKey = (name: IndexName, at: number, digest: string) =>
    `${indexPrefix(name)}${timeText(at)}/${digest}`;

  const waitingKey = ({ delivery, isolated }: Pick<Stored, 'delivery' | 'isolated'>, at: number) =>
    indexKey(isolated ? 'alone' : 'due', at, delivery.digest);

  function put(records: RecordSet, stored: Stored): void {
    const { delivery, ...state } = stored;
    records.set(recordKey(delivery.digest), { ...writeDelivery(delivery), ...withoutUndefined(state) });
    records.set(stored.index, { receivedAt: stored.receivedAt, writtenAt: Math.floor(now()) });
  }

  /** Nothing of the delivery stays but its digest. */
  function putHandled(records: RecordSet, digest: string): void {
    const expiresAt = Math.min(Math.floor(now()) + rememberMs, Number.MAX_SAFE_INTEGER);
    records.set(recordKey(digest), { handled: true }, { expiresAt });
  }

  function toEntry(name: IndexName, { key, value }: StoredRecord): IndexEntry {
    const [at = '', digest = ''] = key.slice(indexPrefix(name).length).split('/');
    const { receivedAt, writtenAt } = membersOf(value);
    return { key, digest, at: Number(at), receivedAt: Number(receivedAt), writtenAt: Number(writtenAt) };
  }

  /** Up to `limit` entries that are due, oldest first, or when the next one is. */
  async function findDue(name: IndexName, limit: number): Promise<{ due: IndexEntry[]; pauseMs: number }> {
    const at = now();
    const page = await store.list({ prefix: indexPrefix(name), limit });
    const entries = page.map((record) => toEntry(name, record));
    const due = entries.filter((entry) => entry.at <= at);
    const [next] = entries;
    if (next === undefined || due.length > 0) return { due, pauseMs: next === undefined ? Infinity : 0 };
    // No wait is that long: it was written before the clock went back.
    const after = `${indexPrefix(name)}${timeText(at + longestWaitMs)}`;
    const late = await store.list({ prefix: indexPrefix(name), after, limit });
    const early = late
      .map((record) => toEntry(name, record))
      .filter(({ writtenAt }) => writtenAt > at + clockSlackMs);
    return { due: early, pauseMs: early.length > 0 ? 0 : next.at - at };
  }

  /** Changes a delivery together with the index record that it has now; `undefined` if there is none. */
  async function change<Result>(
    digest: string,
    further: (stored: Stored) => readonly string[],
    apply: (stored: Stored, records: RecordSet) => Result,
  ): Promise<Result | undefined> {
    if (!digestForm.test(digest)) return undefined;
    const key = recordKey(digest);
    for (;;) {
      const seen = await store.transact([key], (records) => readStored(records.get(key)));
      if (seen === undefined) return undefined;
      const done = await store.transact([key, seen.index, ...further(seen)], (records) => {
        const stored = readStored(records.get(key));
        return stored?.index === seen.index ? { result: apply(stored, records) } : undefined;
      });
      if (done !== undefined) return done.result;
    }
  }

  async function count(name: IndexName, limit: number): Promise<number> {
    let counted = 0;
    let after: string | undefined;
    while (counted < limit) {
      const asked = Math.min(1000, limit - counted);
      const page = await store.list({ prefix: indexPrefix(name), after, limit: asked });
      counted += page.length;
      if (page.length < asked) break;
      after = page.at(-1)?.key;
    }
    return counted;
  }

  return {
    async insert(delivery: Delivery): Promise<'stored' | 'duplicate'> {
      if (!digestForm.test(delivery.digest))
        throw new TypeError('The digest of a delivery is 64 hexadecimal digits.');
      const key = recordKey(delivery.digest);
      const receivedAt = Math.floor(now());
      const index = indexKey('due', receivedAt, delivery.digest);
      return await store.transact([key, index], (records) => {
        if (records.get(key) !== undefined) return 'duplicate';
        put(records, { delivery, receivedAt, attempts: 0, reason: '', index, isolated: false });
        return 'stored';
      });
    },

    /** Leases up to `limit` due deliveries that may run side by side. */
    async lease(limit: number): Promise<{ leased: RecordLease[]; pauseMs: number }> {
      const { due, pauseMs } = await findDue('due', Math.min(limit, mostLeased));
      if (due.length === 0) return { leased: [], pauseMs };
      const begun = performance.now();
      const until = Math.floor(now()) + leaseMs;
      const token = crypto.randomUUID();
      const wanted = due.map(({ key, digest }) => {
        return { key, digest, record: recordKey(digest), index: indexKey('alone', until, digest) };
      });
      const keys = wanted.flatMap(({ key, record, index }) => [key, record, index]);
      const leased = await store.transact(keys, (records) =>
        wanted.flatMap(({ key, record, index }) => {
          // Another worker has it.
          if (records.get(key) === undefined) return [];
          records.delete(key);
          const stored = readStored(records.get(record));
          if (stored?.index !== key) return [];
          const next = { ...stored, attempts: stored.attempts + 1, index, lease: token };
          put(records, next);
          return [next];
        }),
      );
      return { leased: leased.map((stored) => toLease(stored, token, begun)), pauseMs: 0 };
    },

    async isIsolatedDue(): Promise<boolean> {
      return (await findDue('alone', 1)).due.length > 0;
    },

    /** Leases one delivery that has to be tried alone. Those whose last attempt lost its lease become dead letters. */
    async leaseIsolated(): Promise<{ leased: RecordLease | undefined; dead: RecordLease[] }> {
      const dead: RecordLease[] = [];
      for (;;) {
        const [entry] = (await findDue('alone', 1)).due;
        if (entry === undefined) return { leased: undefined, dead };
        const { key, digest } = entry;
        const begun = performance.now();
        const token = crypto.randomUUID();
        const index = indexKey('alone', Math.floor(now()) + leaseMs, digest);
        const grave = indexKey('dead', entry.receivedAt, digest);
        const next = await store.transact([key, recordKey(digest), index, grave], (records) => {
          if (records.get(key) === undefined) return undefined;
          records.delete(key);
          const stored = readStored(records.get(recordKey(digest)));
          if (stored?.index !== key) return undefined;
          const { lease, ...waiting } = stored;
          const isLost = lease !== undefined;
          if (isLost && stored.isolated && stored.attempts >= maxAttempts) {
            const buried = { ...waiting, index: grave, reason: describeError(leaseLost()) };
            put(records, buried);
            return buried;
          }
          // A lease lost while others ran is no attempt: any of them may have killed the process.
          const attempts = stored.attempts + (isLost && !stored.isolated ? 0 : 1);
          const leased = { ...stored, attempts, index, isolated: true, lease: token };
          put(records, leased);
          return leased;
        });
        if (next === undefined) continue;
        const lease = toLease(next, token, begun);
        if (next.index === index) return { leased: lease, dead };
        dead.push(lease);
      }
    },

    /** Stays remembered, whoever has it by now. */
    async remove({ delivery: { digest }, token, index }: RecordLease): Promise<void> {
      const key = recordKey(digest);
      const isMine = await store.transact([key, index], (records) => {
        if (readStored(records.get(key))?.lease !== token) return false;
        putHandled(records, digest);
        records.delete(index);
        return true;
      });
      if (!isMine) await change(digest, () => [], forget);
    },

    /** Schedules another attempt, unless another worker has it by now. */
    async postpone(lease: RecordLease, dueAt: number, reason: string): Promise<void> {
      await move(lease, waitingKey(lease, dueAt), (stored) => ({ ...stored, reason }));
    },

    /** Gives it back as it was: a stop is no attempt. */
    async release(lease: RecordLease): Promise<void> {
      await move(lease, waitingKey(lease, now()), (stored) => ({ ...stored, attempts: stored.attempts - 1 }));
    },

    /** False if another worker has it by now. */
    moveToDeadLetters(lease: RecordLease, reason: string): Promise<boolean> {
      const index = indexKey('dead', lease.receivedAt, lease.delivery.digest);
      return move(lease, index, (stored) => ({ ...stored, reason }));
    },

    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const found: DeadLetter[] = [];
      let after: string | undefined;
      while (found.length < limit) {
        const asked = Math.min(mostRead, limit - found.length);
        const page = await store.list({ prefix: indexPrefix('dead'), after, limit: asked });
        after = page.at(-1)?.key;
        if (after === undefined) break;
        const keys = page.map((record) => recordKey(toEntry('dead', record).digest));
        const values = await store.transact(keys, (records) => keys.map((key) => records.get(key)));
        for (const value of values) {
          const stored = readStored(value);
          if (stored !== undefined && isDead(stored)) found.push(readDeadLetter(stored, { withBody }));
        }
        if (page.length < asked) break;
      }
      return found;
    },

    deadLetter: (digest: string, read: DeadLetterRead): Promise<DeadLetter | undefined> =>
      change(
        digest,
        () => [],
        (stored) => (isDead(stored) ? readDeadLetter(stored, read) : undefined),
      ),

    async replay(digest: string): Promise<boolean> {
      const at = now();
      const place = (stored: Stored) => waitingKey(stored, at);
      const found = await change(
        digest,
        (stored) => [place(stored)],
        (stored, records) => {
          if (!isDead(stored)) return false;
          records.delete(stored.index);
          put(records, { ...stored, attempts: 0, index: place(stored) });
          return true;
        },
      );
      return found ?? false;
    },

    async discard(digest: string): Promise<boolean> {
      const found = await change(
        digest,
        () => [],
        (stored, records) => {
          if (!isDead(stored)) return false;
          forget(stored, records);
          return true;
        },
      );
      return found ?? false;
    },

    async counts(): Promise<InboxCounts> {
      const counted = (name: IndexName) => count(name, Number.POSITIVE_INFINITY);
      const [due, alone, dead] = await Promise.all([counted('due'), counted('alone'), counted('dead')]);
      return { open: due + alone, dead };
    },

    /** How many are open, but no more than this. */
    async countOpen(most: number): Promise<number> {
      const due = await count('due', most);
      return due + (await count('alone', most - due));
    },
  };

  function isDead({ index }: Stored): boolean {
    return index.startsWith(indexPrefix('dead'));
  }

  function forget({ delivery, index }: Stored, records: RecordSet): void {
    putHandled(records, delivery.digest);
    records.delete(index);
  }

  /** Ends a lease; false if another worker has the delivery by now. */
  function move(
    { delivery: { digest }, token, index: from }: RecordLease,
    to: string,
    update: (stored: Stored) => Stored,
  ): Promise<boolean> {
    const key = recordKey(digest);
    return store.transact([key, from, to], (records) => {
      const stored = readStored(records.get(key));
      if (stored?.lease !== token) return false;
      records.delete(from);
      put(records, { ...update(stored), index: to, lease: undefined });
      return true;
    });
  }

  function toLease(stored: Stored, token: string, begun: number): RecordLease {
    const { delivery, attempts: attempt, receivedAt, isolated, index } = stored;
    // The lease began before the store was asked for it.
    const left = Math.max(1, timeLimitMs - (performance.now() - begun));
    return { delivery, attempt, receivedAt, isolated, index, token, timeLimitMs: left };
  }
}

function readDeadLetter({ delivery, receivedAt, ...state }: Stored, read: DeadLetterRead): DeadLetter {
  return toDeadLetter(delivery, { ...state, receivedAt: new Date(receivedAt) }, read);
}

/** `undefined` for a digest that is only remembered, and for what another program has written. */
function readStored(value: JsonValue | undefined): Stored | undefined {
  const delivery = findDelivery(value);
  const { receivedAt, attempts, reason, index, isolated, lease } = membersOf(value);
  if (delivery === undefined || typeof index !== 'string') return undefined;
  return {
    delivery,
    receivedAt: Number(receivedAt),
    attempts: Number(attempts),
    reason: String(reason),
    index,
    isolated: isolated === true,
    ...(typeof lease === 'string' && { lease }),
  };
}

/** So that texts sort as their times do. */
function timeText(at: number): string {
  return String(Math.max(0, Math.floor(at))).padStart(16, '0');
}

function withoutUndefined(state: Omit<Stored, 'delivery'>): JsonObject {
  const { lease, ...rest } = state;
  return { ...rest, ...(lease !== undefined && { lease }) };
}
