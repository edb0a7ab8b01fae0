import { bullmqInbox } from '../../../inbox/bullmq/bullmq-inbox.ts';
import type { BullQueue } from '../../../inbox/bullmq/bullmq-job.ts';
import type { ManagedInbox } from '../../../inbox/inbox.ts';
import { pgBossInbox } from '../../../inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss } from '../../../inbox/pg-boss/pg-boss-job.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { loadOptionalPackage, parseExistingStoreAddress, requireTable } from '../../inputs/open-store.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';

interface InboxFlags {
  readonly inbox: string;
  readonly queue?: string | undefined;
  readonly prefix?: string | undefined;
  readonly schema?: string | undefined;
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

async function open(
  context: CliContext,
  { inbox: where, queue, prefix, schema }: InboxFlags,
): Promise<{ inbox: ManagedInbox; close: () => Promise<void> }> {
  const role = 'receiver';
  const address = parseExistingStoreAddress(context, where);
  if (address.kind === 'file') {
    // The second is that of an inbox of an earlier version.
    await requireTable(address.path, ['partner_records', 'partner_inbox_delivery'], where);
    // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
    const { sqliteInbox } = await import('../../../inbox/sqlite/sqlite-inbox.ts');
    return { inbox: sqliteInbox({ path: address.path, role, now: context.now }), close: async () => {} };
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
    return { inbox: bullmqInbox({ queue: opened, role }), close: () => opened.close() };
  }
  // A further kind would not compile here.
  address.kind satisfies 'postgres';
  const { PgBoss } = await loadOptionalPackage(context, 'pg-boss');
  // Sound: it is the class that pg-boss exports under this name.
  const Class = PgBoss as new (options: object) => PgBoss;
  const quiet = { migrate: false, supervise: false, schedule: false };
  const boss = new Class({
    connectionString: address.url,
    ...(schema !== undefined && { schema }),
    ...quiet,
  });
  boss.on('error', () => {});
  const name = queue ?? 'partner_inbox';
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
  return { inbox: pgBossInbox({ boss, queue: name, role }), close };
}
