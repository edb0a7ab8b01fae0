/** Digests of 256 bits with the time of each, the oldest forgotten first. */
export interface DigestMemory {
  readonly size: number;
  has(digest: string): boolean;
  /** Adds one that it does not have; beyond the room there is, the oldest is forgotten. */
  add(digest: string, time: number): void;
  /** Forgets what was added at this time or before, as far as it lies in front. */
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
export function digestMemory(maxSize: number): DigestMemory {
  let table = makeTable(Math.min(maxSize, firstRoom));
  let first = 0;
  let size = 0;
  const wanted = new Int32Array(digestWords);
  const wantedBytes = Buffer.from(wanted.buffer);

  function read(digest: string): void {
    if (digest.length === digestBytes * 2 && wantedBytes.write(digest, 'hex') === digestBytes) return;
    throw new TypeError('A digest is 64 hexadecimal digits.');
  }

  function add(time: number): void {
    const { room, words, times, slots } = table;
    const place = (first + size) % room;
    words.set(wanted, place * digestWords);
    times[place] = time;
    slots[findSlot(table, wanted)] = place;
    size++;
  }

  function forgetFirst(): void {
    const { room, words } = table;
    const start = first * digestWords;
    freeSlot(table, findSlot(table, words.subarray(start, start + digestWords)));
    first = (first + 1) % room;
    size--;
  }

  function grow(): void {
    const { room, words, times } = table;
    const [begin, count] = [first, size];
    table = makeTable(Math.min(maxSize, room * 2));
    first = 0;
    size = 0;
    for (let index = 0; index < count; index++) {
      const place = (begin + index) % room;
      wanted.set(words.subarray(place * digestWords, (place + 1) * digestWords));
      add(times[place] ?? 0);
    }
  }

  return {
    get size() {
      return size;
    },
    has(digest) {
      read(digest);
      return table.slots[findSlot(table, wanted)] !== none;
    },
    add(digest, time) {
      if (size === table.room && size < maxSize) grow();
      else if (size === maxSize) forgetFirst();
      read(digest);
      add(time);
    },
    forget(time) {
      while (size > 0 && (table.times[first] ?? 0) <= time) forgetFirst();
    },
  };
}

interface Table {
  readonly room: number;
  readonly words: Int32Array;
  readonly times: Float64Array;
  /** The place in the ring of the digest that has this slot, or `none`. Never more than half full. */
  readonly slots: Int32Array;
  readonly mask: number;
}

function makeTable(room: number): Table {
  const slotCount = 2 ** Math.ceil(Math.log2(room * 2));
  return {
    room,
    words: new Int32Array(room * digestWords),
    times: new Float64Array(room),
    slots: new Int32Array(slotCount).fill(none),
    mask: slotCount - 1,
  };
}

/** The slot of a digest, or the free one where it belongs. Any bits of a digest spread as well as all of them. */
function findSlot({ words, slots, mask }: Table, digest: Int32Array): number {
  let slot = home(digest, 0) & mask;
  for (let place = slots[slot] ?? none; place !== none; place = slots[slot] ?? none) {
    if (isSame(words, place * digestWords, digest)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

/** Frees a slot, and moves up what had to go further for it. */
function freeSlot({ words, slots, mask }: Table, freed: number): void {
  let hole = freed;
  for (let slot = (hole + 1) & mask; ; slot = (slot + 1) & mask) {
    const place = slots[slot] ?? none;
    if (place === none) break;
    const wanted = home(words, place * digestWords) & mask;
    // As far from where it belongs as the hole, or further: from there it is found as well.
    if (((slot - wanted) & mask) >= ((slot - hole) & mask)) {
      slots[hole] = place;
      hole = slot;
    }
  }
  slots[hole] = none;
}

function home(words: Int32Array, at: number): number {
  return words[at] ?? 0;
}

function isSame(words: Int32Array, at: number, digest: Int32Array): boolean {
  for (let index = 0; index < digestWords; index++) {
    if (words[at + index] !== digest[index]) return false;
  }
  return true;
}
