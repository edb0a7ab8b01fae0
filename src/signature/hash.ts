import crypto from 'node:crypto';

/** `binary` is Latin-1: a character a byte. A digest as a Buffer of its own takes longer to make. */
type DigestText = 'hex' | 'binary';

/**
 * The digest of a text (taken as UTF-8) or of bytes, without the stream that `createHash` makes and finishes: that
 * takes longer than hashing an event. A runtime without `crypto.hash` gets the stream.
 */
export const hash: (algorithm: 'sha256' | 'sha512', data: string | Uint8Array, as: DigestText) => string =
  typeof crypto.hash === 'function'
    ? crypto.hash
    : (algorithm, data, as) => crypto.createHash(algorithm).update(data).digest(as);
