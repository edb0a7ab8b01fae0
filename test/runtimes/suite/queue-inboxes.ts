import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { type Checks, equal } from './checks.ts';
import { credentials, delivery } from './fixtures.ts';
import { bullmqInMemory, pgBossInMemory } from './queues.ts';

/** The adapters alone: their engines have tests of their own, on Node. */
export async function checkQueueInboxes(checks: Checks): Promise<void> {
  for (const [name, open] of [
    ['bullmqInbox', bullmqInMemory],
    ['pgBossInbox', pgBossInMemory],
  ] as const) {
    await checks.run(`${name} stores a delivery once, and nothing more once it is stopped`, async () => {
      const { inbox, jobs } = open();
      const webhooks = createWebhooks({ credentials, inbox, onError: () => {} });
      equal((await webhooks.receive(delivery())).kind, 'stored');
      equal((await webhooks.receive(delivery())).kind, 'duplicate');
      equal((await webhooks.receive(delivery().replace('A-1001', 'A-1002'))).status, 401);
      const { open: waiting, dead } = await inbox.counts();
      equal([jobs.size, waiting, dead], [1, 1, 0]);
      await inbox.stop();
      equal((await webhooks.receive(delivery({ partner_order_id: 'B' }))).status, 503);
    });
  }
}
