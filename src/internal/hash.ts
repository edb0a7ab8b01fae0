import crypto from 'node:crypto';

type Hash = (algorithm: 'sha256' | 'sha512', data: string | Uint8Array, as: 'hex' | 'binary') => string;

/** The hash in hex or as Latin-1 (`binary`: one character per byte). Some runtimes lack `crypto.hash`. */
export const hash: Hash = typeof crypto.hash === 'function' ? crypto.hash : hashByStream;

/** The hash on runtimes without `crypto.hash`. */
export function hashByStream(...[algorithm, data, as]: Parameters<Hash>): string {
  return crypto.createHash(algorithm).update(data).digest(as);
}
