import { ConfigurationError } from '../errors/errors.ts';
import type { JsonObject, JsonValue } from '../internal/json.ts';
import { invalidOption } from '../internal/options.ts';
import type { RecordStore, StoredRecord } from '../store/record-store.ts';
import { Refusal } from './requests.ts';

/** Where the parts of a sandbox write down what has to last. */
export interface Records {
  /**
   * Members that are `undefined` are left out. To be called before the change takes place in memory.
   *
   * @throws {Refusal} for what no store takes: it could never be written, and would hold up all that follows
   */
  put(key: string, value: object): void;
  delete(key: string): void;
}

/** What lasts of a sandbox: its records, written behind its back and committed before a reply. */
export interface SandboxData extends Records {
  /** Whether there is a store at all. */
  readonly isKept: boolean;
  /** Every record, in the order of the keys. */
  read(): Promise<StoredRecord[]>;
  /** Resolves when everything that was put before is committed. What could not be written is tried again next time. */
  commit(): Promise<void>;
  /** Commits, and closes a store that the sandbox has opened itself. */
  close(): Promise<void>;
}

/** Keys of this package's sandbox, in a store that may hold other things. */
const prefix = 'sandbox/';
/** What one transaction of a record store may change. */
const maxKeys = 1000;
/** Characters of the longest value that a record store takes. */
const maxLength = 1024 * 1024;

/** @param place a store, or the path of an SQLite file, which is opened when it is first used */
export function createData(place: RecordStore | string | undefined): SandboxData {
  if (place === undefined) return noData;
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

  async function write(): Promise<void> {
    const changes = [...pending];
    pending = new Map();
    try {
      for (let at = 0; at < changes.length; at += maxKeys) {
        const part = changes.slice(at, at + maxKeys);
        const keys = part.map(([key]) => prefix + key);
        await (await store()).transact(keys, (records) => {
          for (const [key, value] of part) {
            if (value === undefined) records.delete(prefix + key);
            else records.set(prefix + key, value);
          }
        });
      }
    } catch (error) {
      // What was put meanwhile is newer.
      pending = new Map([...changes, ...pending]);
      throw error;
    }
  }

  function commit(): Promise<void> {
    // One after another: a commit that finds nothing to write must still wait for the one that writes its records.
    lastCommit = lastCommit.catch(() => {}).then(() => (pending.size === 0 ? undefined : write()));
    lastCommit.catch(() => {});
    return lastCommit;
  }

  return {
    isKept: true,
    put: (key, value) => {
      const text = JSON.stringify(value);
      if (text.length > maxLength) {
        throw new Refusal(413, 'body_too_large', 'The record of this body is longer than 1 MiB.');
      }
      // Sound: a copy that holds nothing but JSON.
      pending.set(key, JSON.parse(text) as JsonObject);
    },
    delete: (key) => {
      pending.set(key, undefined);
    },
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

/** Loaded when it is needed: not every runtime that the sandbox runs on has `node:sqlite`. */
async function openFile(path: string): Promise<RecordStore> {
  const { sqliteStore } = await import('../store/sqlite/sqlite-store.ts');
  return sqliteStore({ path });
}

/** The error for what needs the records before they are read. */
export function notReady(what: string): ConfigurationError {
  return new ConfigurationError(
    'invalid_option',
    `${what} needs what data holds, which is not read yet: await sandbox.ready() first.`,
  );
}
