/** The Worker of examples/queues on Cloudflare Queues, in workerd. Plain JavaScript: miniflare is only installed here. */
import { Miniflare } from 'miniflare';
import { equal } from './suite/checks.ts';
import { credentials, delivery, until } from './suite/fixtures.ts';

const recipe = 'cloudflare';

/** @param {(name: string) => object} worker the options of a bundled Worker */
export async function checkQueues(checks, worker) {
  /** What the handlers asked of the accounts: the order, and the idempotency key. */
  const asked = [];
  const failuresLeft = new Map();
  const deadLetters = [];
  const workers = [
    {
      ...worker(recipe),
      bindings: {
        PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
        PARTNER_SECRET_KEY: credentials.partnerSecretKey,
        MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
      },
      queueProducers: { EVENTS: 'events' },
      queueConsumers: { events: { maxBatchTimeout: 0, maxRetries: 3, deadLetterQueue: 'dead-letters' } },
      serviceBindings: { ACCOUNTS: accounts },
    },
    {
      name: 'dead-letters',
      modules: true,
      script: `export default {
        async queue({ messages }, { KEEP }) {
          for (const { body } of messages)
            await KEEP.fetch('http://keep', { method: 'POST', body: JSON.stringify(body) });
        },
      }`,
      queueConsumers: { 'dead-letters': { maxBatchTimeout: 0 } },
      serviceBindings: {
        KEEP: async (request) => {
          deadLetters.push(await request.json());
          return new Response(null, { status: 204 });
        },
      },
    },
  ];
  const miniflare = new Miniflare({ cf: false, workers });

  function accounts({ url, headers }) {
    const id = new URL(url).pathname.split('/').at(-1);
    asked.push([id, headers.get('idempotency-key')]);
    const left = failuresLeft.get(id) ?? 0;
    failuresLeft.set(id, left - 1);
    return new Response(null, { status: left > 0 ? 503 : 204 });
  }

  const keysOf = (id) => asked.flatMap(([askedId, key]) => (askedId === id ? [key] : []));

  async function post(body) {
    const { fetch } = await miniflare.getWorker(recipe);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch('http://worker.example/', { method: 'POST', headers, body });
    await response.text();
    return response.status;
  }

  const credited = (partner_order_id) =>
    delivery({
      event_name: 'event.buy.credited.crypto',
      partner_order_id,
      fiat_payment_status: 'PAID',
      crypto_payment_status: 'PAID',
      crypto_txn_hash: '0xabc',
    });

  const check = (name, run) => checks.run(`Cloudflare Queues: ${name}`, run);

  await check(
    'a verified delivery is handled from the queue, and a forged one never reaches it',
    async () => {
      const body = credited('queued');
      equal([await post(body.replace('queued', 'forged')), await post(body)], [401, 200]);
      await until('handled', () => keysOf('queued').length === 1);
      equal(keysOf('forged'), []);
    },
  );
  await check('a handler that fails runs again, with the same idempotency key', async () => {
    failuresLeft.set('flaky', 2);
    equal(await post(credited('flaky')), 200);
    await until('handled', () => keysOf('flaky').length === 3);
    equal(new Set(keysOf('flaky')).size, 1);
  });
  await check('a message whose last attempt failed is in the dead letter queue', async () => {
    failuresLeft.set('poison', Number.POSITIVE_INFINITY);
    const body = credited('poison');
    equal(await post(body), 200);
    await until('dead', () => deadLetters.length > 0);
    equal([keysOf('poison').length, deadLetters.map((message) => message.body)], [4, [body]]);
  });
  await miniflare.dispose();
}
