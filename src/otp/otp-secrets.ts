import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { invalidOption } from '../internal/options.ts';

/** One of the secrets. Printing it does not show the key. */
export interface Secret {
  /** Tells which secret a record was made with; reveals nothing of the secret itself. */
  readonly id: string;
  readonly key: KeyObject;
}

/** RFC 2104: a key of HMAC-SHA-256 should not be shorter than its digest. */
const leastBytes = 32;

/** @throws {ConfigurationError} `invalid_option` */
export function checkSecrets(secrets: unknown): readonly [Secret, ...Secret[]] {
  const [newest, ...older] = Array.isArray(secrets) ? secrets.map(checkSecret) : [];
  if (newest === undefined)
    throw invalidOption('secrets must be a list of at least one secret, newest first.');
  const all = [newest, ...older] as const;
  if (new Set(all.map(({ id }) => id)).size < all.length) throw invalidOption('secrets holds one twice.');
  return all;
}

function checkSecret(secret: unknown): Secret {
  const bytes = typeof secret === 'string' ? Buffer.from(secret, 'utf8') : secret;
  if (!(bytes instanceof Uint8Array) || bytes.byteLength < leastBytes) {
    throw invalidOption(`Each of secrets must be text or bytes, of at least ${leastBytes} bytes.`);
  }
  const key = createSecretKey(bytes);
  return Object.freeze({ id: keyedHash({ key }, 'secret').subarray(0, 6).toString('base64url'), key });
}

/** HMAC-SHA-256. Each part is preceded by its length, so that different lists give different texts. */
export function keyedHash({ key }: Pick<Secret, 'key'>, label: string, ...parts: readonly string[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of [`partner-exchange-sdk otp ${label}`, ...parts]) {
    const bytes = Buffer.from(part, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.byteLength);
    hmac.update(length).update(bytes);
  }
  return hmac.digest();
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM. Reading it takes the secret and the id; the store has neither. */
export function seal(
  secret: Secret,
  id: string,
  { text, nonce }: { text: string; nonce: Uint8Array },
): string {
  const encryption = createCipheriv(cipher, keyedHash(secret, 'seal', id), nonce);
  const sealed = [encryption.update(text, 'utf8'), encryption.final()];
  return Buffer.concat([nonce, ...sealed, encryption.getAuthTag()]).toString('base64url');
}

/** `undefined` if it was not sealed with this secret and id. */
export function unseal(secret: Secret, id: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.byteLength < nonceBytes + tagBytes) return undefined;
  const decryption = createDecipheriv(cipher, keyedHash(secret, 'seal', id), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decryption.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const text = decryption.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decryption.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
