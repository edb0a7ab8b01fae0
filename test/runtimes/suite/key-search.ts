import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { type Checks, equal } from './checks.ts';
import { credentials, delivery } from './fixtures.ts';

/** Partners whose keys have to be searched among so many that the search pauses. */
const sets = Array.from({ length: 1_000 }, (_, index) => ({
  ...credentials,
  partnerSecretKey: `sk_partner_${index}`,
  partnerId: `P-${index}`,
}));

export async function checkKeySearch(checks: Checks): Promise<void> {
  const webhooks = createWebhooks({
    credentials: [...sets, { ...credentials, partnerId: 'P-last' }],
    keySearch: { keysPerSecond: 1_000_000 },
  }).onAny(() => {});
  const text = delivery();

  await checks.run('among 1,001 keys the right one is found', async () => {
    equal((await webhooks.receive(text)).kind, 'handled');
  });

  await checks.run('among 1,001 keys a forgery is refused', async () => {
    equal((await webhooks.receive(text.replace('A-1001', 'A-1002'))).status, 401);
  });
}
