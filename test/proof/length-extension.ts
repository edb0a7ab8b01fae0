import { createHash, createHmac } from 'node:crypto';
import type { Construction } from '../../src/signature/signature-scheme.ts';
import { resumeSha512 } from './sha512.ts';

const blockBytes = 128;

/** What SHA-512 puts behind a message of so many bytes to fill its last block. */
export function gluePadding(messageBytes: number): Buffer {
  const zeros = (blockBytes * 2 - 17 - (messageBytes % blockBytes)) % blockBytes;
  const glue = Buffer.alloc(1 + zeros + 16);
  glue[0] = 0x80;
  glue.writeBigUInt64BE(BigInt(messageBytes) * 8n, glue.length - 8);
  return glue;
}

/** What somebody who has no secret makes of a digest, given how long the secret message was. */
export interface Extension {
  /** Stands behind the message, in bytes. */
  readonly glue: Buffer;
  /** SHA-512 of message + glue + addition, if the digest was SHA-512 of the message. */
  readonly digest: Buffer;
}

export function extend(digest: Buffer, messageBytes: number, addition: Buffer): Extension {
  const glue = gluePadding(messageBytes);
  return { glue, digest: resumeSha512(digest, messageBytes + glue.length, addition) };
}

/** The digest of bytes under a construction, without a separator. */
export function digestUnder(construction: Construction, key: string, text: Buffer): Buffer {
  const sha512 = (...parts: (string | Buffer)[]) => {
    const hash = createHash('sha512');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  switch (construction) {
    case 'hmac':
      return createHmac('sha512', key).update(text).digest();
    case 'hash-suffix':
      return sha512(text, key);
    case 'hash-prefix':
      return sha512(key, text);
  }
}

/** Bytes that each construction hashes for a text, in the hash to which its digest belongs. */
export function hashedBytes(construction: Construction, keyBytes: number, textBytes: number): number {
  switch (construction) {
    case 'hmac':
      return blockBytes + 64;
    case 'hash-suffix':
    case 'hash-prefix':
      return keyBytes + textBytes;
  }
}

/**
 * Whether a digest of a text can be made into the digest of a longer text without the secret: extends the digest and
 * compares with what the holder of the secret computes for the longer text.
 */
export function isExtendable(construction: Construction, key: string, text: string): boolean {
  const [message, addition] = [Buffer.from(text), Buffer.from(',"added":true}')];
  const right = digestUnder(construction, key, message);
  const hashed = hashedBytes(construction, Buffer.byteLength(key), message.length);
  const { glue, digest } = extend(right, hashed, addition);
  return digest.equals(digestUnder(construction, key, Buffer.concat([message, glue, addition])));
}
