import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '../errors/configuration-error.ts';
import type { Refusal } from './http/refusal.ts';

/** Random bytes, as many as asked for. */
export type RandomBytes = (bytes: number) => Uint8Array;

/** A fresh lower-case hex token of that many random bytes. */
export function randomToken(random: RandomBytes, bytes: number): string {
  const token = random(bytes);
  if (!(token instanceof Uint8Array) || token.length !== bytes) {
    throw new ConfigurationError('invalid_option', 'random must return as many bytes as it is asked for.');
  }
  return Buffer.from(token).toString('hex');
}

/** The key under which a secret is kept: looking it up says nothing about how much of a wrong one was right. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Goes on only when both secrets are the same; otherwise throws the refusal. */
export function requireSameSecret(presented: string, expected: string, refusal: Refusal): void {
  const [a, b] = [presented, expected].map((secret) => createHash('sha256').update(secret).digest());
  if (a === undefined || b === undefined || !timingSafeEqual(a, b)) throw refusal;
}
