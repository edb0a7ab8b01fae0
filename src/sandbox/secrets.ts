import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '../errors/configuration-error.ts';
import type { Refusal } from './http/refusal.ts';

/** Returns this many random bytes. */
export type RandomBytes = (bytes: number) => Uint8Array;

/** A new lower-case hex token of this many random bytes. */
export function randomToken(random: RandomBytes, bytes: number): string {
  const token = random(bytes);
  if (!(token instanceof Uint8Array) || token.length !== bytes) {
    throw new ConfigurationError('invalid_option', 'random must return as many bytes as it is asked for.');
  }
  return Buffer.from(token).toString('hex');
}

/** The key under which a secret is stored: a look-up does not tell how much of a wrong one was right. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Returns if both secrets are equal, otherwise throws the refusal. */
export function requireSameSecret(presented: string, expected: string, refusal: Refusal): void {
  const [a, b] = [presented, expected].map((secret) => createHash('sha256').update(secret).digest());
  if (a === undefined || b === undefined || !timingSafeEqual(a, b)) throw refusal;
}
