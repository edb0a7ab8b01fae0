import type { ManagedInbox } from '../../../../inbox/inbox.ts';
import { inboxPrefix, storeInbox } from '../../../../inbox/store/store-inbox.ts';
import {
  onlyOfPostgres,
  openExistingStore,
  parseExistingStoreAddress,
  requireRecords,
  requireTable,
} from '../../inputs/open-store.ts';
import type { CliContext } from '../../terminal/context.ts';

interface InboxFlags {
  readonly inbox: string;
  readonly prefix?: string | undefined;
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
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

async function open(context: CliContext, flags: InboxFlags): Promise<OpenInbox> {
  const { inbox: where, prefix = inboxPrefix, schema, table } = flags;
  const address = parseExistingStoreAddress(context, where);
  if (address.kind === 'file') {
    if ((schema ?? table) !== undefined) throw onlyOfPostgres();
    await requireTable(address.path, 'partner_records', where);
    // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
    const { sqliteInbox } = await import('../../../../inbox/sqlite/sqlite-inbox.ts');
    const inbox = sqliteInbox({ path: address.path, role: 'receiver', now: context.now });
    return { inbox, close: async () => {} };
  }
  const { store, close } = await openExistingStore(context, where, { schema, table });
  try {
    await requireRecords(store, prefix, 'No delivery was ever received here');
  } catch (error) {
    await close();
    throw error;
  }
  return { inbox: storeInbox({ store, prefix, role: 'receiver', now: context.now }), close };
}
