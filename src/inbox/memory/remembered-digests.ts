/** Digests of 256 bits with the time of each, the oldest forgotten first. */
export interface RememberedDigests {
  readonly size: number;
  has(digest: string): boolean;
  /** Adds one, unless it is there; beyond the room there is, the oldest is forgotten. */
  add(digest: string, time: number): void;
  /** Forgets the oldest as long as they were added at this time or before. */
  forget(time: number): void;
}

const digestBytes = 32;
const digestWords = 8;
const firstRoom = 1024;
const none = -1;

/**
 * A ring of digests with a hash table over it (open addressing, linear probing), all in typed arrays.
 *
 * A Set of as many texts takes longer for each delivery than checking a signature does: every entry lies elsewhere
 * in memory, and the garbage collector carries all of them about.
 */
export function rememberedDigests(maxSize: number): RememberedDigests {
  let table = makeTable(Math.min(maxSize, firstRoom));
  let first = 0;
  let size = 0;
  let wanted: string | undefined;

  /** Puts a digest beside the ring, where it can be compared. */
  function want(digest: string): void {
    // Most often it is looked for, and added next.
    if (digest === wanted) return;
    wanted = undefined;
    if (digest.length !== digestBytes * 2 || table.beside.write(digest, 'hex') !== digestBytes) {
      throw new TypeError('A digest is 64 hexadecimal digits.');
    }
    wanted = digest;
  }

  function isKnown(): boolean {
    return table.slots[findSlot(table, table.room)] !== none;
  }

  function addWanted(time: number): void {
    const { room, words, times, slots } = table;
    const place = (first + size) % room;
    words.copyWithin(place * digestWords, room * digestWords, (room + 1) * digestWords);
    times[place] = time;
    slots[findSlot(table, room)] = place;
    size++;
  }

  function forgetFirst(): void {
    freeSlot(table, findSlot(table, first));
    first = (first + 1) % table.room;
    size--;
  }

  function grow(): void {
    const small = table;
    const { room, words, times } = small;
    table = makeTable(Math.min(maxSize, room * 2));
    // It is full: from the first to the end, and from there to the first.
    table.words.set(words.subarray(first * digestWords, room * digestWords));
    table.words.set(words.subarray(0, first * digestWords), (room - first) * digestWords);
    table.beside.set(small.beside);
    table.times.set(times.subarray(first));
    table.times.set(times.subarray(0, first), room - first);
    first = 0;
    for (let place = 0; place < size; place++) table.slots[findSlot(table, place)] = place;
  }

  return {
    get size() {
      return size;
    },
    has(digest) {
      want(digest);
      return isKnown();
    },
    add(digest, time) {
      want(digest);
      if (isKnown()) return;
      if (size === maxSize) forgetFirst();
      else if (size === table.room) grow();
      addWanted(time);
    },
    forget(time) {
      while (size > 0 && (table.times[first] ?? 0) <= time) forgetFirst();
    },
  };
}

interface Table {
  readonly room: number;
  /** The digests in their places, and one more, beside them. */
  readonly words: Int32Array;
  /** The one beside them. */
  readonly beside: Buffer;
  readonly times: Float64Array;
  /** For each slot the place of its digest, or `none`. Never more than half of them are taken. */
  readonly slots: Int32Array;
  readonly mask: number;
}

function makeTable(room: number): Table {
  const words = new Int32Array((room + 1) * digestWords);
  const slotCount = 2 ** Math.ceil(Math.log2(room * 2));
  return {
    room,
    words,
    beside: Buffer.from(words.buffer, room * digestBytes),
    times: new Float64Array(room),
    slots: new Int32Array(slotCount).fill(none),
    mask: slotCount - 1,
  };
}

/** The slot of the digest at a place, or the free one where it belongs. */
function findSlot({ words, slots, mask }: Table, place: number): number {
  let slot = home(words, place) & mask;
  for (;;) {
    const other = slots[slot] ?? none;
    if (other === none || isSame(words, place, other)) return slot;
    slot = (slot + 1) & mask;
  }
}

/** Frees a slot, and moves up what had to go further for it. */
function freeSlot({ words, slots, mask }: Table, freed: number): void {
  let hole = freed;
  for (let slot = (hole + 1) & mask; ; slot = (slot + 1) & mask) {
    const place = slots[slot] ?? none;
    if (place === none) break;
    // It lies as far from where it belongs as from the hole, or further: it is found there as well.
    if (((slot - home(words, place)) & mask) >= ((slot - hole) & mask)) {
      slots[hole] = place;
      hole = slot;
    }
  }
  slots[hole] = none;
}

/** Any bits of a digest spread as well as all of them. */
function home(words: Int32Array, place: number): number {
  return words[place * digestWords] ?? 0;
}

function isSame(words: Int32Array, place: number, other: number): boolean {
  for (let word = 0; word < digestWords; word++) {
    if (words[place * digestWords + word] !== words[other * digestWords + word]) return false;
  }
  return true;
}
