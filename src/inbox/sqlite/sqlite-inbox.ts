import { defineOptions, integer, type OptionTable } from '../../internal/options.ts';
import { type ProcessView, viewProcesses } from '../../store/process-identity.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { checkDatabasePath } from '../../store/sqlite/sqlite-database.ts';
import { sqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { HandlingOptions } from '../handling-options.ts';
import type { QuarantineOptions } from '../quarantine/quarantine.ts';
import { openStoreInbox, presetRows, type StoreInbox, type StoreInboxOptions } from '../store/store-inbox.ts';
import { toInboxError } from '../store-calls.ts';

/** Options of {@link sqliteInbox}. */
export interface SqliteInboxOptions
  extends HandlingOptions,
    QuarantineOptions,
    Pick<StoreInboxOptions, 'pollMs' | 'sleep'> {
  /**
   * The database file, on a local disk (not on a network share). Several processes of one user may share it. It holds
   * personal data, so it is made with mode 0600. A symbolic link, and a file that others can read or own, is refused. If
   * the file is deleted or replaced while it is open, deliveries are answered 503 until the process restarts.
   */
  path: string;
  /**
   * Milliseconds for which a delivery waits while another process writes; then it is answered 503. The wait blocks the
   * event loop only while tables are made when the file is opened. @default 1000
   */
  busyTimeoutMs?: number | undefined;
}

/** An inbox in a SQLite file: it handles by itself. */
export type SqliteInbox = Omit<StoreInbox, 'drain'>;

const readOptions = defineOptions('sqliteInbox', {
  ...presetRows,
  path: (given) => checkDatabasePath('sqliteInbox', given),
  busyTimeoutMs: integer({ default: 1_000, most: 60_000 }),
} satisfies OptionTable<SqliteInboxOptions>);

/** SQLite answers within `busyTimeoutMs`, and a transaction takes time too. */
const transactionMs = 5_000;

/**
 * A durable inbox in one file: `storeInbox` over `sqliteStore`. A delivery is on disk before it is acknowledged, and is
 * handled by this process or another one on the same machine. For many machines give `storeInbox` another store.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @throws {InboxError} `store_unavailable` when the file cannot be opened
 * @example
 * ```ts
 * const inbox = sqliteInbox({ path: 'inbox.sqlite' });
 * const webhooks = createWebhooks({ credentials, inbox }).on('event.buy.credited.crypto', (event) =>
 *   applyOnce(effectKey(event), event),
 * );
 * ```
 */
export function sqliteInbox(options: SqliteInboxOptions): SqliteInbox {
  return openSqliteInbox(options, viewProcesses('machine'));
}

/** @param processes those that can have the file open */
export function openSqliteInbox(options: SqliteInboxOptions, processes: ProcessView): SqliteInbox {
  const { path, ...settings } = readOptions(options);
  const { busyTimeoutMs, now, ...handling } = settings;
  const store = withInboxErrors(() => sqliteStore({ path, busyTimeoutMs, now }));
  const storeTimeoutMs = busyTimeoutMs + transactionMs;
  const { drain, ...inbox } = openStoreInbox({ ...handling, storeTimeoutMs, now, store }, processes);
  return { ...inbox, stop: (stopOptions) => inbox.stop(stopOptions).finally(() => store.close()) };
}

function withInboxErrors(open: () => RecordStore): RecordStore {
  try {
    return open();
  } catch (error) {
    throw toInboxError(error);
  }
}
