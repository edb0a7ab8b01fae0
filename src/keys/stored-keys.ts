import { isKeyError, KeyError } from '../errors/errors.ts';
import {
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  optional,
  value,
} from '../internal/options.ts';
import { checkRecordKey } from '../store/apply-change.ts';
import { checkStore, type RecordStore } from '../store/record-store.ts';
import { isNewerFormat } from '../store/stored-form.ts';
import type { KeyStorage } from './rotation-state.ts';

/** Options of {@link storedKeys}. */
export interface StoredKeysOptions {
  /** Holds the record. */
  store: RecordStore;
  /** The key of the record: printable ASCII without blanks. One partner, one record. @default 'partner-exchange-keys' */
  key?: string | undefined;
  /** Encrypts what is stored: spread `aesGcm({ keys })` into the options. Without it the store holds secrets as they are. */
  encrypt?: ((text: string) => string) | undefined;
  /** Undoes `encrypt`; give both. */
  decrypt?: ((text: string) => string) | undefined;
}

const readOptions = defineOptions('storedKeys', {
  store: checkStore,
  key: value(checkRecordKey, { default: 'partner-exchange-keys' }),
  encrypt: optional(callback()),
  decrypt: optional(callback()),
} satisfies OptionTable<StoredKeysOptions>);

/**
 * Keeps the keys of a rotation in a record store: `sqliteStore` (a file of mode 0600) for the programs of one machine,
 * `postgresStore` or `redisStore` for those of several. Anybody who can read the store can read the keys, unless you give
 * `encrypt` and `decrypt`: `aesGcm` makes both.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const rotation = createKeyRotation({ exchange, storage: storedKeys({ store: sqliteStore({ path: 'keys.sqlite' }) }) });
 * ```
 */
export function storedKeys(options: StoredKeysOptions): KeyStorage {
  const { store, key, encrypt, decrypt } = readOptions(options);
  if ((encrypt === undefined) !== (decrypt === undefined))
    throw invalidOption('Give encrypt and decrypt, or neither.');

  function textOf(value: unknown): string | undefined {
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw invalid('is not text');
    if (decrypt === undefined) return value;
    try {
      return decrypt(value);
    } catch (error) {
      if (isKeyError(error) || isNewerFormat(error)) throw error;
      // Any other may quote the text.
      throw invalid('cannot be decrypted');
    }
  }

  /** @throws {ConfigurationError} for a text that could never be read again: new keys are shown once */
  function encrypted(text: string): string {
    if (encrypt === undefined || decrypt === undefined) return text;
    const written = encrypt(text);
    if (typeof written === 'string' && decrypt(written) === text) return written;
    throw invalidOption('decrypt must undo encrypt, and both must return text: nothing was stored.');
  }

  return {
    async read() {
      // A list does not wait for transactions. The shortest key with the prefix comes first.
      const [record] = await store.list({ prefix: key, limit: 1 });
      return record?.key === key ? textOf(record.value) : undefined;
    },
    async update(change) {
      await store.transact([key], (records) => {
        const next = change(textOf(records.get(key)));
        if (next !== undefined) records.set(key, encrypted(next));
      });
    },
  };
}

function invalid(what: string): KeyError {
  return new KeyError('key_storage_invalid', `The record with the keys ${what}.`);
}
