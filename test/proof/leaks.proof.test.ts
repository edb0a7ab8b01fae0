import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { createOtp } from '../../src/otp/create-otp.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { deploymentAt, order } from '../client/clients.ts';
import { buyInitBody } from '../support/bodies.ts';
import { times } from '../support/repeat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { credentials, delivery } from '../webhooks/deliveries.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

it('a partner uses as much memory after many orders, events and codes as after a few, with every record on disk', async () => {
  const store = sqliteStore({ path: `${scratchFolder()}/partner.sqlite` });
  const ring = createKeyRing({ load: () => ({ ...credentials }), maxAgeMs: 1 });
  const exchange = new ExchangeClient({
    deployment: deploymentAt('http://localhost:1'),
    credentials: ring,
    fetch: async () => Response.json({ platform_order_ref: 'P-1' }),
  });
  const journal = createOrderJournal({ exchange, store });
  const inbox = storeInbox({ store, rememberMs: 1_000 });
  const webhooks = createWebhooks({ credentials: ring, inbox }).onAny(journal.observe);
  let code = '';
  const otp = createOtp({
    messenger: { sendMessage: async ({ message }) => (code = /\d{6,}/.exec(message)?.[0] ?? '') },
    store,
    secrets: ['secret-of-the-tests-0123456789abcdef'],
    allowedPrefixes: ['+234'],
  });

  let begun = 0;
  async function live(rounds: number): Promise<number> {
    for (const end = begun + rounds; begun < end; begun++) {
      const partner_order_id = `A-${begun}`;
      await journal.create({ ...order, partner_order_id });
      await webhooks.receive(
        delivery(buyInitBody({ partner_order_id, buyer_crypto_address: order.buyer_crypto_address })),
      );
      const { id } = await otp.issue({ to_phone: `+234803${1_000_000 + begun}`, purpose: 'sign-in' });
      expect(await otp.check(id, code, { purpose: 'sign-in' })).toMatchObject({ ok: true });
    }
    while ((await inbox.health()).open > 0) await new Promise(setImmediate);
    collectGarbage();
    collectGarbage();
    return process.memoryUsage().heapUsed;
  }

  // Caches and compiled code fill first.
  const before = await live(800);
  const rounds = times(800, 8_000);
  // An order that stays has a kilobyte or more.
  expect(((await live(rounds)) - before) / rounds).toBeLessThan(800);
  await inbox.stop();
  await store.close();
}, 300_000);
