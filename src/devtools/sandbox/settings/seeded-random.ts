import { createHash } from 'node:crypto';

/** A stream of random numbers that a seed determines. For simulation only: its output reveals its state. */
export interface SeededRandom {
  /** A number from 0 up to 1. */
  fraction(): number;
  /** True with this probability. Always draws one number. */
  chance(probability: number): boolean;
  bytes(length: number): Uint8Array;
  /** One of a list, `undefined` if it is empty. Always draws one number. */
  pick<Item>(items: readonly Item[]): Item | undefined;
}

/**
 * The stream of this name under a seed. Streams are independent, so that keys stay the same when faults are added.
 *
 * The generator is sfc32 (Chris Doty-Humphrey, PractRand).
 */
export function seededRandom(seed: string, name: string): SeededRandom {
  const start = createHash('sha256')
    .update(JSON.stringify([seed, name]))
    .digest();
  let a = start.readUInt32LE(0);
  let b = start.readUInt32LE(4);
  let c = start.readUInt32LE(8);
  let counter = 1;

  function next(): number {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  // As PractRand does, since the first numbers still resemble the seed.
  for (let round = 0; round < 12; round++) next();

  const fraction = () => next() / 2 ** 32;
  return {
    fraction,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[Math.floor(fraction() * items.length)],
    bytes(length) {
      const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
      for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(next(), at);
      return new Uint8Array(bytes.subarray(0, length));
    },
  };
}
