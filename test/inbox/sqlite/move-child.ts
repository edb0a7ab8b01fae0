import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';

/** Opens a file of an earlier version, which moves it, and is killed in the middle. */

sqliteInbox({ path: process.argv[2] ?? '', role: 'receiver', busyTimeoutMs: 5_000 });
process.send?.('opened');
process.on('disconnect', () => process.exit());
