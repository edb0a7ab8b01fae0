import { createHash, createHmac } from 'node:crypto';
import { hash } from './hash.ts';

/** Bytes of a block of SHA-512, to which HMAC brings its key (RFC 2104). */
const blockBytes = 128;
const digestBytes = 64;
/** Longest text, in code units, that takes the short way: the scratch buffer holds it at three bytes a unit. */
const shortText = 4096;
/** Keys kept prepared: a few merchants and generations. */
const maxPrepared = 64;

/** A key mixed with both of HMAC's pads, each in front of what is hashed after it. */
interface PreparedKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const prepared = new Map<string, PreparedKey>();
const scratch = Buffer.alloc(blockBytes + shortText * 3);

/**
 * HMAC-SHA512 of a text (taken as UTF-8), as Latin-1: a character a byte.
 *
 * The same as `createHmac`, at two thirds of its time for a short text: making and finishing its stream takes
 * longer than hashing an event, and a one-shot hash has none. Long texts use it.
 */
export function hmacSha512(key: string, text: string): string {
  if (text.length > shortText) {
    return createHmac('sha512', key).update(text).digest('binary');
  }
  const { inner, outer } = prepared.get(key) ?? prepare(key);
  inner.copy(scratch);
  const end = blockBytes + scratch.write(text, blockBytes);
  outer.write(hash('sha512', scratch.subarray(0, end), 'binary'), blockBytes, 'latin1');
  return hash('sha512', outer, 'binary');
}

function prepare(key: string): PreparedKey {
  const block = Buffer.alloc(blockBytes);
  const bytes = Buffer.from(key);
  (bytes.length > blockBytes ? createHash('sha512').update(bytes).digest() : bytes).copy(block);
  const made = {
    inner: Buffer.from(block.map((byte) => byte ^ 0x36)),
    outer: Buffer.concat([block.map((byte) => byte ^ 0x5c), Buffer.alloc(digestBytes)]),
  };
  // A Map keeps the order of insertion: the first is the oldest.
  for (const oldest of prepared.keys()) {
    if (prepared.size < maxPrepared) break;
    prepared.delete(oldest);
  }
  prepared.set(key, made);
  return made;
}
