import crypto from 'node:crypto';

type Hash = (algorithm: 'sha256' | 'sha512', data: string | Uint8Array, as: 'hex' | 'binary') => string;

/**
 * The digest of a text (as UTF-8) or of bytes, in hex or as Latin-1 (`binary`: one character per byte). Some runtimes
 * that we support lack `crypto.hash`.
 */
export const hash: Hash = typeof crypto.hash === 'function' ? crypto.hash : hashByStream;

/** The same as {@link hash}, for runtimes without `crypto.hash`. */
export function hashByStream(...[algorithm, data, as]: Parameters<Hash>): string {
  return crypto.createHash(algorithm).update(data).digest(as);
}
