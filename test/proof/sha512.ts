/**
 * SHA-512 (FIPS 180-4) that can begin from the state in which another message left it: what a length extension needs
 * and node:crypto, rightly, does not offer. Slow, and for proofs only.
 */

const mask = (1n << 64n) - 1n;
const firstPrimes = primes(80);
/** The first 64 bits of the fractional parts of the cube roots of the first eighty primes. */
const constants = firstPrimes.map((prime) => root(prime << 192n, 3n) & mask);

/** The digest of a message from its first bytes' digest (`resumed` of them, whole blocks) and the rest. */
export function resumeSha512(digest: Buffer, resumed: number, rest: Buffer): Buffer {
  let state = Array.from({ length: 8 }, (_, word) => digest.readBigUInt64BE(word * 8));
  const zeros = (256 - 17 - (rest.length % 128)) % 128;
  const padded = Buffer.concat([rest, Buffer.from([0x80]), Buffer.alloc(zeros + 16)]);
  padded.writeBigUInt64BE(BigInt(resumed + rest.length) * 8n, padded.length - 8);
  for (let block = 0; block < padded.length; block += 128) state = compress(state, padded.subarray(block));
  const bytes = Buffer.alloc(64);
  for (const [word, value] of state.entries()) bytes.writeBigUInt64BE(value, word * 8);
  return bytes;
}

function compress(state: readonly bigint[], block: Buffer): bigint[] {
  const schedule = Array.from({ length: 16 }, (_, word) => block.readBigUInt64BE(word * 8));
  const at = (index: number) => schedule[index] ?? 0n;
  for (let t = 16; t < 80; t++) {
    const [early, late] = [at(t - 15), at(t - 2)];
    const small0 = rotated(early, 1n) ^ rotated(early, 8n) ^ (early >> 7n);
    const small1 = rotated(late, 19n) ^ rotated(late, 61n) ^ (late >> 6n);
    schedule.push((at(t - 16) + small0 + at(t - 7) + small1) & mask);
  }
  // Sound: a state has eight words.
  let [a, b, c, d, e, f, g, h] = state as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  for (let t = 0; t < 80; t++) {
    const large1 = rotated(e, 14n) ^ rotated(e, 18n) ^ rotated(e, 41n);
    const first = h + large1 + ((e & f) ^ (~e & mask & g)) + (constants[t] ?? 0n) + at(t);
    const large0 = rotated(a, 28n) ^ rotated(a, 34n) ^ rotated(a, 39n);
    const second = large0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) & mask, c, b, a, (first + second) & mask];
  }
  return [a, b, c, d, e, f, g, h].map((word, index) => (word + (state[index] ?? 0n)) & mask);
}

function rotated(word: bigint, by: bigint): bigint {
  return ((word >> by) | (word << (64n - by))) & mask;
}

function primes(count: number): bigint[] {
  const found: bigint[] = [];
  for (let candidate = 2n; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0n)) found.push(candidate);
  }
  return found;
}

/** The integer part of a root. */
function root(of: bigint, degree: bigint): bigint {
  let [low, high] = [0n, 1n << 72n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** degree <= of) low = middle;
    else high = middle;
  }
  return low;
}
