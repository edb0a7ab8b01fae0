import type { ManagedInbox } from '../../../../inbox/inbox.ts';
import { inboxPrefix, storeInbox } from '../../../../inbox/store/store-inbox.ts';
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
  work: (inbox: ManagedInbox) => Promise<Result>,
): Promise<Result> {
  const address = parseStoreAddress(context, at);
  return withStore(context, { address, mustExist: true, schema, table }, async (store) => {
    await requireRecords(store, prefix, 'No delivery was ever received here');
    const inbox = storeInbox({ store, prefix, role: 'receiver', now: context.now });
    try {
      return await work(inbox);
    } finally {
      await inbox.stop();
    }
  });
}
