import { bullmqInbox } from '../../../../inbox/bullmq/bullmq-inbox.ts';
import type { BullQueue } from '../../../../inbox/bullmq/bullmq-job.ts';
import type { ManagedInbox } from '../../../../inbox/inbox.ts';
import { pgBossInbox } from '../../../../inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss } from '../../../../inbox/pg-boss/pg-boss-job.ts';
import { inboxPrefix, storeInbox } from '../../../../inbox/store/store-inbox.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { defaultTable } from '../../../../store/postgres/statements.ts';
import {
  findOptionalPackage,
  findTables,
  loadOptionalPackage,
  onlyOfPostgres,
  openExistingStore,
  type PostgresAddress,
  packageMissing,
  parseExistingStoreAddress,
  requireRecords,
  requireTable,
  whereToLook,
  withPostgres,
} from '../../inputs/open-store.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';

interface InboxFlags {
  readonly inbox: string;
  readonly queue?: string | undefined;
  readonly prefix?: string | undefined;
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
}

/** The members of `Queue` of BullMQ that this file calls, and the inbox does not. */
interface Queue extends BullQueue {
  close(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
}

/** The members of pg-boss that this file calls, and the inbox does not. */
interface PgBoss extends Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  isInstalled(): Promise<boolean>;
  getQueue(name: string): Promise<unknown>;
  on(event: 'error', listener: () => void): unknown;
}

/** Works with an existing inbox, and handles none of its events. */
export async function withInbox<Result>(
  context: CliContext,
  flags: InboxFlags,
  work: (inbox: ManagedInbox) => Promise<Result>,
): Promise<Result> {
  const { inbox, close } = await open(context, flags);
  try {
    return await work(inbox);
  } finally {
    await inbox.stop();
    await close();
  }
}

interface OpenInbox {
  readonly inbox: ManagedInbox;
  readonly close: () => Promise<void>;
}

const defaultQueue = 'partner_inbox';

async function open(context: CliContext, flags: InboxFlags): Promise<OpenInbox> {
  const { inbox: where, queue, prefix, schema, table } = flags;
  const address = parseExistingStoreAddress(context, where);
  if (address.kind !== 'postgres' && (schema ?? table) !== undefined) throw onlyOfPostgres();
  if (address.kind === 'file') {
    // The second is that of an inbox of an earlier version.
    await requireTable(address.path, ['partner_records', 'partner_inbox_delivery'], where);
    // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
    const { sqliteInbox } = await import('../../../../inbox/sqlite/sqlite-inbox.ts');
    const inbox = sqliteInbox({ path: address.path, role: 'receiver', now: context.now });
    return { inbox, close: async () => {} };
  }
  if (address.kind === 'redis') {
    if (queue === undefined) throw new CliError('Name the BullMQ queue of the inbox with --queue.');
    const { Queue } = await loadOptionalPackage(context, 'bullmq');
    // Sound: it is the class that BullMQ exports under this name.
    const Class = Queue as new (name: string, options: object) => Queue;
    const connection = { url: address.url, maxRetriesPerRequest: 3 };
    const opened = new Class(queue, { connection, ...(prefix !== undefined && { prefix }) });
    // Without a listener the client would print the error that the failing call throws.
    opened.on('error', () => {});
    return { inbox: bullmqInbox({ queue: opened, role: 'receiver' }), close: () => opened.close() };
  }
  // A further kind would not compile here.
  address.kind satisfies 'postgres';
  if (await isStoreInbox(context, address, flags)) return await openRecords(context, flags);
  return await openPgBoss(context, address, flags);
}

async function openRecords(context: CliContext, flags: InboxFlags): Promise<OpenInbox> {
  const { inbox: where, prefix = inboxPrefix, schema, table } = flags;
  const { store, close } = await openExistingStore(context, where, { schema, table });
  try {
    await requireRecords(store, prefix, 'No delivery was ever received here');
  } catch (error) {
    await close();
    throw error;
  }
  return { inbox: storeInbox({ store, prefix, role: 'receiver', now: context.now }), close };
}

/** Whether the inbox of a PostgreSQL is a `storeInbox`. Asks the database only where the flags leave it open. */
async function isStoreInbox(
  context: CliContext,
  address: PostgresAddress,
  flags: InboxFlags,
): Promise<boolean> {
  const { queue, schema, table } = flags;
  if (queue !== undefined && table !== undefined)
    throw new CliError('--queue is for pg-boss, and --table for a record store: give one of them.');
  if (queue !== undefined || table !== undefined) return table !== undefined;
  const [hasPg, hasBoss] = ['pg', 'pg-boss'].map((name) => findOptionalPackage(context, name) !== undefined);
  // Some package managers do not show the pg that pg-boss brings.
  if (!hasPg && hasBoss) return false;
  if (!hasPg) throw packageMissing(['pg', 'pg-boss']);
  const records = { schema, table: defaultTable };
  const boss = ['version', 'job'].map((name) => ({ schema: schema ?? 'pgboss', table: name }));
  const [hasRecords, ...bossTables] = await withPostgres(context, address, (pool) =>
    findTables(pool, [records, ...boss]),
  );
  const hasPgBoss = bossTables.every((isThere) => isThere);
  if (!hasRecords && !hasPgBoss) {
    const place = schema === undefined ? '' : ` in the schema ${printableText(schema)}`;
    throw new CliError(
      `This database has neither a table ${defaultTable} nor the tables of pg-boss${place}: check ${whereToLook}.`,
    );
  }
  // Orders and codes are records, too.
  if (!hasRecords || !hasPgBoss || !(await holdsDeliveries(context, flags))) return !hasPgBoss;
  throw new CliError(
    `This database has deliveries in ${defaultTable}, and pg-boss: give --table ${defaultTable} for the one, --queue ${defaultQueue} for the other.`,
  );
}

async function holdsDeliveries(context: CliContext, flags: InboxFlags): Promise<boolean> {
  const { inbox: where, schema, prefix = inboxPrefix } = flags;
  const { store, close } = await openExistingStore(context, where, { schema });
  try {
    return (await store.list({ prefix, limit: 1 })).length > 0;
  } finally {
    await close();
  }
}

async function openPgBoss(
  context: CliContext,
  { url }: PostgresAddress,
  { queue: name = defaultQueue, schema }: InboxFlags,
): Promise<OpenInbox> {
  const { PgBoss } = await loadOptionalPackage(context, 'pg-boss');
  // Sound: it is the class that pg-boss exports under this name.
  const Class = PgBoss as new (options: object) => PgBoss;
  const quiet = { migrate: false, supervise: false, schedule: false };
  const boss = new Class({ connectionString: url, ...(schema !== undefined && { schema }), ...quiet });
  boss.on('error', () => {});
  const close = () => boss.stop({ graceful: false });
  try {
    await boss.start().catch(async (error: unknown) => {
      if (await boss.isInstalled().catch(() => true)) throw error;
      throw new CliError(
        `This database has no tables of pg-boss in the schema ${printableText(schema ?? 'pgboss')}: check the address and --schema.`,
      );
    });
    // The inbox would make a queue of that name.
    if (!(await boss.getQueue(name)))
      throw new CliError(`There is no queue ${printableText(name)}: check --queue.`);
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
  return { inbox: pgBossInbox({ boss, queue: name, role: 'receiver' }), close };
}
