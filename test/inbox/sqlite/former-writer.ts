import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { formerInbox } from './former-inbox.ts';

/** A process of an earlier version: stores until it is killed, and tells of each delivery whether it was stored. */

const inbox = formerInbox(process.argv[2] ?? '');
process.on('disconnect', () => process.exit());
for (;;) {
  const digest = randomBytes(32).toString('hex');
  try {
    inbox.store({ digest, body: '{"event_name":"event.buy.init"}' });
    process.send?.({ stored: digest });
  } catch {
    process.send?.({});
  }
  // real time: another process gets its turn.
  await sleep(1);
}
