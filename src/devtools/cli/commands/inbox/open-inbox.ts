import type { ManagedInbox } from '../../../../inbox/inbox.ts';
import { inboxPrefix, storeInbox } from '../../../../inbox/store/store-inbox.ts';
import type { RecordStore } from '../../../../store/record-store.ts';
import { parseStoreAddress, requireRecords, withStore } from '../../inputs/open-store.ts';
import type { CliContext } from '../../terminal/context.ts';

interface InboxFlags {
  readonly inbox: string;
  readonly prefix?: string | undefined;
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
}

/** Works with an existing inbox, and handles none of its events. */
export function withInbox<Result>(
  context: CliContext,
  { inbox: at, prefix = inboxPrefix, schema, table }: InboxFlags,
  work: (inbox: ManagedInbox, records: InboxRecords) => Promise<Result>,
): Promise<Result> {
  const address = parseStoreAddress(context, at);
  return withStore(context, { address, mustExist: true, schema, table }, async (store) => {
    await requireRecords(store, prefix, 'No delivery was ever received here');
    const inbox = storeInbox({ store, prefix, role: 'receiver', now: context.now });
    try {
      return await work(inbox, { store, prefix });
    } finally {
      await inbox.stop();
    }
  });
}

/** The records in which an inbox keeps its deliveries. */
export interface InboxRecords {
  readonly store: RecordStore;
  readonly prefix: string;
}
