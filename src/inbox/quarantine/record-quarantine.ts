import { type JsonValue, membersOf } from '../../internal/json.ts';
import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import { storedForm } from '../../store/stored-form.ts';
import { timeIndex } from '../../store/time-index.ts';
import type { CountedQuarantine, KeptBody } from './quarantine.ts';

export interface RecordQuarantineOptions {
  readonly prefix: string;
  readonly quarantineMs: number;
  readonly maxQuarantined: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const mostListed = 300;
const averageBytes = 4_096;

/** How much is kept by now. */
type Tally = { readonly number: number; readonly bytes: number };

/** How much is kept in all, and of each share. */
type Room = Tally & { readonly shares: Readonly<Record<string, Tally>> };

const roomForm = storedForm<Room>('The count of unverified deliveries', {
  number: true,
  bytes: true,
  shares: true,
});

/** The most records that `list` of a store returns. */
const largestPage = 1_000;
/** What its index says of a body. */
interface Kept {
  readonly bytes: number;
  readonly share: string;
}

const none: Tally = { number: 0, bytes: 0 };
const emptyRoom: Room = { ...none, shares: {} };
/** Counting reads the whole index, and a flood must not cause that for each of its bodies. */
const recountEveryMs = 60_000;

/**
 * The quarantine of an inbox in a record store. Each body has one record by the digest of its text, and one index
 * record, whose key begins with its time. One record counts them. All expire by themselves.
 */
export function recordQuarantine(store: RecordStore, options: RecordQuarantineOptions): CountedQuarantine {
  const { quarantineMs, now } = options;
  const prefix = `${options.prefix}unverified/`;
  const [roomKey, indexPrefix] = [`${prefix}room`, `${prefix}at/`];
  const index = timeIndex<Kept>({ store, prefix: indexPrefix, members: { bytes: true, share: true } });
  const indexKey = (id: string) => `${indexPrefix}${id}`;
  const bodyKey = (id: string) => `${prefix}body/${id.slice(id.indexOf('/') + 1)}`;
  let recountAt = Number.NEGATIVE_INFINITY;
  const expiry = (at: number) => ({ expiresAt: Math.min(at + quarantineMs, Number.MAX_SAFE_INTEGER) });

  function putRoom(records: RecordSet, room: Room): void {
    // It outlives every body that it counts.
    if (room.number === 0) records.delete(roomKey);
    else records.set(roomKey, roomForm.write(room, records.get(roomKey)), expiry(Math.floor(now())));
  }

  /** Bodies that expire leave the count too high, so it is made anew before anything is refused. */
  async function recount(): Promise<void> {
    const room = await store.transact([roomKey], (records) => records.get(roomKey));
    let counted = emptyRoom;
    for await (const entries of index.pages({ size: largestPage }))
      for (const { value } of entries) counted = withBody(counted, value, 1);
    await store.transact([roomKey], (records) => {
      // Another process was faster.
      if (JSON.stringify(records.get(roomKey)) === JSON.stringify(room)) putRoom(records, counted);
    });
  }

  async function removeEntries(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += mostListed) {
      const some = ids.slice(from, from + mostListed);
      const keys = some.flatMap((id) => [bodyKey(id), indexKey(id)]);
      const removeSome = (records: RecordSet) => {
        let room = roomForm.read(records.get(roomKey)) ?? emptyRoom;
        for (const id of some) {
          const entry = index.read(records.get(indexKey(id)));
          if (entry === undefined) continue;
          room = withBody(room, entry, -1);
          records.delete(indexKey(id));
          // The same text may have been kept again, under another time.
          if (readBody(records.get(bodyKey(id)), id) !== undefined) records.delete(bodyKey(id));
        }
        putRoom(records, room);
      };
      await store.transact([roomKey, ...keys], removeSome);
    }
  }

  return {
    async keep({ digest, body, partners, share }) {
      const at = Math.floor(now());
      const id = index.keyOf(at, digest).slice(indexPrefix.length);
      const bytes = Buffer.byteLength(body);
      const insert = () =>
        store.transact([roomKey, bodyKey(id), indexKey(id)], (records) => {
          if (records.get(bodyKey(id)) !== undefined) return 'known';
          const room = roomForm.read(records.get(roomKey)) ?? emptyRoom;
          const tallies = { all: room, share: room.shares[share] ?? none };
          if (!hasRoom(bytes, tallies, options)) return 'full';
          putRoom(records, withBody(room, { bytes, share }, 1));
          records.set(bodyKey(id), { id, body, partners }, expiry(at));
          records.set(indexKey(id), index.write({ bytes, share }, { at }), expiry(at));
          return 'kept';
        });
      const result = await insert();
      if (result !== 'full' || performance.now() < recountAt) return result;
      recountAt = performance.now() + recountEveryMs;
      await recount();
      return await insert();
    },

    async list({ after, limit }) {
      for (let last = after && indexKey(after); ; ) {
        const entries = await index.list(Math.min(limit, mostListed), last);
        if (entries.length === 0) return [];
        last = entries.at(-1)?.key;
        const ids = entries.map(({ key }) => key.slice(indexPrefix.length));
        const keys = ids.map(bodyKey);
        const bodies = await store.transact(keys, (records) => keys.map((key) => records.get(key)));
        const found = bodies.map((body, at) => readBody(body, ids[at]));
        // A process whose clock is ahead takes a body for expired, and keeps it again under another time.
        const leftovers = ids.filter((_, at) => found[at] === undefined);
        if (leftovers.length > 0) await removeEntries(leftovers);
        const kept = found.filter((body) => body !== undefined);
        // Only an empty page ends a list.
        if (kept.length > 0) return kept;
      }
    },

    remove: removeEntries,
    count: () => index.count(),
  };
}

/** Whether one more body fits into the room, and into the half of it that its share may have. */
function hasRoom(
  bytes: number,
  { all, share }: { readonly all: Tally; readonly share: Tally },
  { maxQuarantined }: { readonly maxQuarantined: number },
): boolean {
  const fits = (tally: Tally, most: number) =>
    tally.number < most && tally.bytes + bytes <= most * averageBytes;
  return fits(all, maxQuarantined) && fits(share, Math.ceil(maxQuarantined / 2));
}

function withBody(room: Room, { bytes, share }: Kept, sign: 1 | -1): Room {
  const changed = (tally: Tally): Tally => ({
    number: Math.max(0, tally.number + sign),
    bytes: Math.max(0, tally.bytes + sign * bytes),
  });
  const { [share]: before = none, ...others } = room.shares;
  const after = changed(before);
  return {
    ...changed(room),
    shares: after.number === 0 ? others : { ...others, [share]: after },
  };
}

/** `undefined` if it was removed meanwhile, or kept again under another id. */
function readBody(value: JsonValue | undefined, expected: string | undefined): KeptBody | undefined {
  const { id, body, partners } = membersOf(value);
  if (typeof id !== 'string' || typeof body !== 'string' || id !== expected) return undefined;
  return { id, body, partners: String(partners) };
}
