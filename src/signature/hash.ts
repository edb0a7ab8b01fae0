import crypto from 'node:crypto';

type Algorithm = 'sha256' | 'sha512';

interface Hash {
  (algorithm: Algorithm, data: string | Uint8Array, as: 'hex'): string;
  (algorithm: Algorithm, data: string | Uint8Array, as: 'buffer'): Buffer;
}

/** The digest of a text (taken as UTF-8) or of bytes. `crypto.hash` is not there in every runtime that we support. */
export const hash: Hash = typeof crypto.hash === 'function' ? crypto.hash : hashByStream;

/** As {@link hash}, where there is no `crypto.hash`. */
export function hashByStream(algorithm: Algorithm, data: string | Uint8Array, as: 'hex'): string;
export function hashByStream(algorithm: Algorithm, data: string | Uint8Array, as: 'buffer'): Buffer;
export function hashByStream(algorithm: Algorithm, data: string | Uint8Array, as: 'hex' | 'buffer') {
  const digest = crypto.createHash(algorithm).update(data).digest();
  return as === 'hex' ? digest.toString('hex') : digest;
}
