import { ConfigurationError } from '../../errors/errors.ts';
import type { JsonObject, JsonValue } from '../../internal/json.ts';
import { invalidOption } from '../../internal/options.ts';
import type { RecordStore, StoredRecord } from '../../store/record-store.ts';
import { Refusal } from './requests.ts';

/** Writes the records of a sandbox that survive a restart. */
export interface Records {
  /**
   * Leaves out members that are `undefined`. Call it before the change takes place in memory.
   *
   * @throws {Refusal} for a value that no store takes: it would block every later commit
   */
  put(key: string, value: object): void;
  delete(key: string): void;
}

/** The store may hold other data, too. */
const prefix = 'sandbox/';
/** The limit of keys in one transaction of a record store. */
const maxKeys = 1000;
/** The limit of characters in one value of a record store. */
const maxLength = 1024 * 1024;

/**
 * The records of a sandbox: written in the background, and committed before a reply.
 *
 * @param place a store, or the path of an SQLite file, which is opened on first use
 */
export function createData(place: RecordStore | string | undefined): SandboxData {
  return place === undefined ? noData : storedData(place);
}

export type SandboxData = ReturnType<typeof storedData>;

function storedData(place: RecordStore | string) {
  if (typeof place === 'string' ? place === '' : typeof place?.transact !== 'function') {
    throw invalidOption('data must be a record store, or the path of a file.');
  }
  let opened: Promise<RecordStore> | undefined;
  const store = () => {
    opened ??= typeof place === 'string' ? openFile(place) : Promise.resolve(place);
    return opened;
  };
  let pending = new Map<string, JsonValue | undefined>();
  let lastCommit: Promise<void> = Promise.resolve();
  const isKept: boolean = true;

  async function write(): Promise<void> {
    const changes = [...pending];
    pending = new Map();
    try {
      for (let start = 0; start < changes.length; start += maxKeys) {
        const part = changes.slice(start, start + maxKeys);
        const keys = part.map(([key]) => prefix + key);
        await (await store()).transact(keys, (records) => {
          for (const [key, value] of part) {
            if (value === undefined) records.delete(prefix + key);
            else records.set(prefix + key, value);
          }
        });
      }
    } catch (error) {
      // Records put in the meantime are newer.
      pending = new Map([...changes, ...pending]);
      throw error;
    }
  }

  /** Resolves when every earlier record is committed. Records that could not be written are tried again next time. */
  function commit(): Promise<void> {
    // One after another: a commit with nothing to write still waits for the one that writes its records.
    lastCommit = lastCommit.catch(() => {}).then(() => (pending.size === 0 ? undefined : write()));
    lastCommit.catch(() => {});
    return lastCommit;
  }

  return {
    isKept,
    put: (key: string, value: object) => {
      const text = JSON.stringify(value);
      if (text.length > maxLength) {
        throw new Refusal(413, 'body_too_large', 'The record of this body is longer than 1 MiB.');
      }
      // Sound: a copy that holds nothing but JSON.
      pending.set(key, JSON.parse(text) as JsonObject);
    },
    delete: (key: string) => {
      pending.set(key, undefined);
    },
    /** Every record, in the order of the keys. */
    async read() {
      const all: StoredRecord[] = [];
      for (let after: string | undefined; ; ) {
        const page = await (await store()).list({ prefix, after, limit: maxKeys });
        all.push(...page.map((record) => ({ ...record, key: record.key.slice(prefix.length) })));
        after = page.at(-1)?.key;
        if (page.length < maxKeys) return all;
      }
    },
    commit,
    /** Commits, and closes the store if the sandbox opened it. */
    async close() {
      await commit();
      if (typeof place === 'string') await (await opened)?.close();
    },
  };
}

const noData: SandboxData = {
  isKept: false,
  put: () => {},
  delete: () => {},
  read: async () => [],
  commit: async () => {},
  close: async () => {},
};

/** Loaded on demand: some supported runtimes have no `node:sqlite`. */
async function openFile(path: string): Promise<RecordStore> {
  const { sqliteStore } = await import('../../store/sqlite/sqlite-store.ts');
  return sqliteStore({ path });
}

export function notReady(what: string): ConfigurationError {
  return new ConfigurationError(
    'invalid_option',
    `${what} needs what data holds, which is not read yet: await sandbox.ready() first.`,
  );
}
