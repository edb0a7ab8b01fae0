import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { KeyError } from '../errors/errors.ts';
import { defineOptions, invalidOption, type OptionTable } from '../internal/options.ts';
import { newerFormat } from '../store/stored-form.ts';

/** Options of {@link aesGcm}. */
export interface AesGcmOptions {
  /** The newest first: it encrypts, and all decrypt. 1 to 16 keys, each with an id of its own. */
  keys: readonly AesGcmKey[];
}

/** A key of {@link aesGcm}. */
export interface AesGcmKey {
  /** Stands in the text, so that it is known which key decrypts it: 1 to 64 letters, digits, `-` and `_`. */
  readonly id: string;
  /** 32 random bytes, or these as base64, as `openssl rand -base64 32` prints them. */
  readonly key: string | Uint8Array;
}

/** Encrypts and decrypts a text. Made by {@link aesGcm}. */
export interface TextCipher {
  /** The text, encrypted with the first key; another one each time. */
  encrypt(text: string): string;
  /** @throws {KeyError} `key_storage_invalid`, without the text, for another form, a key that is missing or wrong, or a changed text */
  decrypt(encrypted: string): string;
}

const readOptions = defineOptions('aesGcm', { keys: checkKeys } satisfies OptionTable<AesGcmOptions>);

/**
 * Encrypts the stored keys of a rotation with AES-256-GCM of `node:crypto`. To replace the key, put a new one first and
 * keep the old one: the next write (`receive`, `promote`) uses the new one, and then the old one can go.
 *
 * The form is `v1.<key id>.<nonce>.<ciphertext and tag>`: a nonce of 12 random bytes and a tag of 16 bytes, both parts as
 * base64url. `v1.<key id>` is authenticated, too.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const keys = [{ id: '2026-11', key: process.env.KEY_ENCRYPTION_KEY ?? '' }];
 * const storage = storedKeys({ store, ...aesGcm({ keys }) });
 * ```
 */
export function aesGcm(options: AesGcmOptions): TextCipher {
  const { keys } = readOptions(options);
  const [newest] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));

  return {
    encrypt(text) {
      const head = `${version}.${newest.id}`;
      const nonce = randomBytes(nonceBytes);
      const aes = createCipheriv('aes-256-gcm', newest.key, nonce).setAAD(Buffer.from(head));
      const sealed = Buffer.concat([aes.update(text, 'utf8'), aes.final(), aes.getAuthTag()]);
      return `${head}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
    },
    decrypt(encrypted) {
      const [, keyId = '', nonce = '', sealed = ''] = form.exec(encrypted) ?? [];
      if (/^v(?!1\.)\d+\./.test(encrypted)) throw newerFormat('The text of the stored keys');
      if (keyId === '') throw invalid(`is not in the form ${version}.<key id>.<nonce>.<ciphertext>`);
      const key = byId.get(keyId);
      if (key === undefined)
        throw invalid(`was encrypted with the key "${keyId}", which aesGcm was not given`);
      const bytes = Buffer.from(sealed, 'base64url');
      try {
        const aes = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {
          authTagLength: tagBytes,
        });
        aes.setAAD(Buffer.from(`${version}.${keyId}`)).setAuthTag(bytes.subarray(-tagBytes));
        return aes.update(bytes.subarray(0, -tagBytes), undefined, 'utf8') + aes.final('utf8');
      } catch {
        throw invalid(
          `cannot be decrypted with the key "${keyId}": the key is another one, or the text was changed`,
        );
      }
    },
  };
}

const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;
/** 16 characters hold the nonce, 22 at least the tag. */
const form = /^v1\.([\w-]{1,64})\.([\w-]{16})\.([\w-]{22,})$/;

type CheckedKey = AesGcmKey & { readonly key: Buffer };

function checkKeys(list: unknown): readonly [CheckedKey, ...CheckedKey[]] {
  const [newest, ...others] = Array.isArray(list) ? list.map(checkKey) : [];
  if (newest === undefined || others.length > 15) throw invalidOption('keys must be a list of 1 to 16 keys.');
  const keys = [newest, ...others] as const;
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw invalidOption('Each of keys must have an id of its own.');
  return keys;
}

function checkKey(entry: unknown, index: number): CheckedKey {
  // Sound: both members are checked below.
  const { id, key } = Object(entry) as Partial<AesGcmKey>;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id))
    throw invalidOption(`keys[${index}].id must be 1 to 64 letters, digits, - and _.`);
  const secret = secretOf(key);
  if (secret?.length !== 32) throw invalidOption(`keys[${index}].key must be 32 bytes, or these as base64.`);
  return { id, key: secret };
}

function secretOf(key: unknown): Buffer | undefined {
  if (key instanceof Uint8Array) return Buffer.from(key);
  if (typeof key !== 'string' || !/^[A-Za-z0-9+/]{43}=?$/.test(key)) return undefined;
  return Buffer.from(key, 'base64');
}

function invalid(what: string): KeyError {
  return new KeyError('key_storage_invalid', `The text of the stored keys ${what}.`);
}
