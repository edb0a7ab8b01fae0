import type { Settings } from '../../internal/options.ts';
import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import { storedForm } from '../../store/stored-form.ts';
import type { InboxHost } from '../inbox.ts';
import { limitedStore } from '../store-calls.ts';
import type { Quarantine, quarantineRows, UnverifiedText } from './quarantine.ts';

export interface RecordQuarantineOptions extends Settings<typeof quarantineRows> {
  readonly prefix: string;
  readonly storeTimeoutMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Throws once the inbox stops. */
  readonly checkReceives: () => void;
}

/** A quarantine whose size its inbox can tell. */
export interface CountedQuarantine extends Quarantine {
  /** Too high by what has expired, until the room is counted anew or all have expired. */
  count(): Promise<number>;
}

/** How much is kept by now. */
interface Room {
  readonly number: number;
  readonly bytes: number;
}

type KeptBody = Pick<UnverifiedText, 'body' | 'partners'>;

const roomForm = storedForm<Room>('The count of unverified deliveries', { number: true, bytes: true });
const bodyForm = storedForm<KeptBody>('An unverified delivery', { body: true, partners: true });

const averageBytes = 4_096;
/** The most bodies of a page: they have to fit into memory, and into one transaction. */
const mostListed = 300;
/** Anybody can send such bodies, so fewer of them may wait for the store than authentic deliveries. */
const mostPending = 100;
/** Counting reads every body, and a flood must not cause that for each of its own. */
const recountEveryMs = 60_000;

/**
 * The quarantine of an inbox in a record store. Each body has one record by its digest, and one record counts them. All
 * expire by themselves.
 */
export function recordQuarantine(store: RecordStore, options: RecordQuarantineOptions): CountedQuarantine {
  const { quarantineMs, maxQuarantined, storeTimeoutMs, now, checkReceives } = options;
  const roomKey = `${options.prefix}unverified/room`;
  const bodyPrefix = `${options.prefix}unverified/body/`;
  const bodyKey = (digest: string) => `${bodyPrefix}${digest}`;
  const limited = limitedStore(store, storeTimeoutMs);
  const limitedToKeep = limitedStore(store, storeTimeoutMs, mostPending);
  const expiry = () => ({ expiresAt: Math.min(Math.floor(now()) + quarantineMs, Number.MAX_SAFE_INTEGER) });
  let recountAt = Number.NEGATIVE_INFINITY;

  const readRoom = (records: RecordSet) => roomForm.read(records.get(roomKey)) ?? { number: 0, bytes: 0 };

  function putRoom(records: RecordSet, room: Room): void {
    // It outlives every body that it counts.
    if (room.number <= 0) records.delete(roomKey);
    else records.set(roomKey, roomForm.write(room, records.get(roomKey)), expiry());
  }

  async function list(limit: number, after?: string): Promise<UnverifiedText[]> {
    const page = await limited.list({ prefix: bodyPrefix, after: after && bodyKey(after), limit });
    return page.flatMap(({ key, value }) => {
      const kept = bodyForm.read(value);
      return kept ? [{ digest: key.slice(bodyPrefix.length), body: kept.body, partners: kept.partners }] : [];
    });
  }

  /** Bodies that expire leave the count too high, so it is made anew before anything is refused. */
  async function recount(): Promise<void> {
    const former = await limited.transact([roomKey], readRoom);
    let room: Room = { number: 0, bytes: 0 };
    let page: UnverifiedText[] = [];
    do {
      page = await list(mostListed, page.at(-1)?.digest);
      for (const { body } of page) room = withBody(room, body, 1);
    } while (page.length === mostListed);
    await limited.transact([roomKey], (records) => {
      const { number, bytes } = readRoom(records);
      // Otherwise another process has changed it meanwhile.
      if (number === former.number && bytes === former.bytes) putRoom(records, room);
    });
  }

  function insert({ digest, body, partners }: UnverifiedText): ReturnType<Quarantine['keep']> {
    const key = bodyKey(digest);
    return limitedToKeep.transact([roomKey, key], (records) => {
      if (records.get(key) !== undefined) return 'known';
      const room = withBody(readRoom(records), body, 1);
      if (room.number > maxQuarantined || room.bytes > maxQuarantined * averageBytes) return 'full';
      putRoom(records, room);
      records.set(key, bodyForm.write({ body, partners }, undefined), expiry());
      return 'kept';
    });
  }

  return {
    async keep(body) {
      checkReceives();
      const result = await insert(body);
      if (result !== 'full' || performance.now() < recountAt) return result;
      recountAt = performance.now() + recountEveryMs;
      await recount();
      return await insert(body);
    },
    async list({ after, limit }) {
      checkReceives();
      return await list(Math.min(limit, mostListed), after);
    },
    // A stop ends no removal: the inbox may have got the body just before.
    async remove(digests) {
      for (let from = 0; from < digests.length; from += mostListed) {
        const keys = digests.slice(from, from + mostListed).map(bodyKey);
        await limited.transact([roomKey, ...keys], (records) => {
          let room = readRoom(records);
          for (const key of keys) {
            const kept = bodyForm.read(records.get(key));
            if (kept === undefined) continue;
            room = withBody(room, kept.body, -1);
            records.delete(key);
          }
          putRoom(records, room);
        });
      }
    },
    // Listed, because a change would wait for the lock of a SQLite file that another process writes.
    async count() {
      const [stored] = await limited.list({ prefix: roomKey, limit: 1 });
      const { number } = roomForm.read(stored?.value) ?? { number: 0 };
      // Bodies that have expired are still counted.
      return number > 0 && (await list(1)).length > 0 ? number : 0;
    },
  };
}

function withBody({ number, bytes }: Room, body: string, sign: 1 | -1): Room {
  return { number: number + sign, bytes: Math.max(0, bytes + sign * Buffer.byteLength(body)) };
}

const reviewEveryMs = 2_000;

/** Has the quarantine reviewed along with other work, at most every two seconds. */
export function reviewNowAndThen(): (host: InboxHost) => Promise<void> {
  let reviewedAt = Number.NEGATIVE_INFINITY;
  return async (host) => {
    if (performance.now() - reviewedAt < reviewEveryMs) return;
    reviewedAt = performance.now();
    await host.review?.();
  };
}
