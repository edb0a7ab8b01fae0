import { createHash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../../internal/options.ts';
import { Refusal } from './requests.ts';

/** A lower-case hex token of this many random bytes. */
export function randomToken(random: RandomBytes, bytes: number): string {
  return Buffer.from(random(bytes)).toString('hex');
}

/** The key under which a secret is stored, so that the time of a look-up reveals nothing about it. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** @throws the refusal unless both secrets are equal */
export function requireSameSecret(presented: string, expected: string, refusal: Refusal): void {
  const digests = [Buffer.from(secretDigest(presented)), Buffer.from(secretDigest(expected))] as const;
  if (!timingSafeEqual(...digests)) throw refusal;
}

/** @throws {Refusal} unless the header holds the token */
export function requireToken(authorization: string | null | undefined, token: string): void {
  const [, presented] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const refusal = new Refusal(
    401,
    presented === undefined ? 'token_missing' : 'token_wrong',
    'This needs the header "Authorization: Bearer" with the token: it is behind #token= in the address of the inspector, and in what listen() returned.',
    { 'www-authenticate': 'Bearer' },
  );
  if (presented === undefined) throw refusal;
  requireSameSecret(presented, token, refusal);
}
