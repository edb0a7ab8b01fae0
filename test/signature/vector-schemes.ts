import { createHash, createHmac } from 'node:crypto';
import type { SignatureScheme } from '../../src/signature/signature-scheme.ts';

/** Each of the 27 schemes. */
export const allSchemes: SignatureScheme[] = (['hmac', 'hash-suffix', 'hash-prefix'] as const).flatMap(
  (construction) =>
    (['as-sent', 'compact', 'sorted'] as const).flatMap((serialization) =>
      (['hex', 'hex-upper', 'base64'] as const).map((encoding) => ({
        construction,
        serialization,
        encoding,
      })),
    ),
);

/** For the title of a `describe.each` over schemes. */
export const schemeName = '$construction $serialization $encoding';

/** The signature of a text under a scheme, straight from node:crypto; the caller serialises. */
export function signatureOf(text: string, key: string, scheme: SignatureScheme): string {
  const { construction, encoding } = scheme;
  const hash = construction === 'hmac' ? createHmac('sha512', key) : createHash('sha512');
  const input = construction === 'hmac' ? text : construction === 'hash-suffix' ? text + key : key + text;
  const digest = hash.update(input, 'utf8').digest(encoding === 'base64' ? 'base64' : 'hex');
  return encoding === 'hex-upper' ? digest.toUpperCase() : digest;
}
