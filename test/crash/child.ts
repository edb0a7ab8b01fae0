import { createServer } from 'node:http';
import { sleep } from '../../src/internal/backoff.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { listeningPort } from '../support/listening.ts';
import { credentials } from '../webhooks/deliveries.ts';
import { isPoison, openEffects, openInbox, openJournal, type Place } from './crash-engine.ts';

/** A receiver or a worker of the crash suite; it is killed without warning. */

// Written by the parent.
const { role, place } = JSON.parse(process.argv[2] ?? '{}') as { role: 'receiver' | 'worker'; place: Place };
// Do not outlive it.
process.on('disconnect', () => process.exit());

if (role === 'receiver') {
  const inbox = await openInbox(place, 'receiver');
  const webhooks = createWebhooks({ credentials, inbox, onError: () => {} });
  const server = createServer((request, response) => void webhooks.node(request, response));
  process.send?.({ port: await listeningPort(server) });
} else {
  const effects = openEffects(place);
  const inbox = await openInbox(place, 'both');
  const { journal } = openJournal(place);
  // One that failed each time would be a dead letter.
  const failed = new Set<string>();
  createWebhooks({ credentials, inbox, onError: () => {} }).onAny(async (event, context) => {
    const { digest } = context;
    await sleep(Math.random() * 10);
    // With all that the process has in hand.
    if (isPoison(String(event.partner_order_id))) process.kill(process.pid, 'SIGKILL');
    if (Math.random() < 0.05 && !failed.has(digest)) {
      failed.add(digest);
      throw new Error('It happens.');
    }
    await journal.observe(event, context);
    effects.countCall(digest);
    effects.applyOnce(digest, String(event.partner_order_id));
    // Killed here, it is handled again: the guard has to notice.
    await sleep(Math.random() * 100);
  });
  process.send?.({ port: 0 });
}
