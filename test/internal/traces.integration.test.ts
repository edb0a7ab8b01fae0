import { tracingChannel } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import { scratchFolder } from '../support/scratch.ts';

const names = ['call', 'delivery', 'handle'] as const;
const events = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

interface Published {
  readonly name: string;
  readonly event: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/** Everything that is published, as it was at that moment. */
function listenToAll(): { readonly published: Published[]; stop(): void } {
  const published: Published[] = [];
  const stops = names.map((name) => {
    const channel = tracingChannel(`partner-exchange:${name}`);
    const note = (event: string) => (message: object) =>
      void published.push({ name, event, message: { ...message } });
    const handlers = {
      start: note('start'),
      end: note('end'),
      asyncStart: note('asyncStart'),
      asyncEnd: note('asyncEnd'),
      error: note('error'),
    };
    channel.subscribe(handlers);
    return () => channel.unsubscribe(handlers);
  });
  return { published, stop: () => stops.forEach((stop) => void stop()) };
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const folder = scratchFolder(afterAll);
const phone = '+2348012345678';
const address = 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP';
const listening = listenToAll();
const { published } = listening;
const secrets: string[] = [phone, phone.slice(1), address, 'A-1', 'A-2', 'acme', 'Ada Buyer'];

/** The ends of the traces of a channel. */
function ends(name: string): Readonly<Record<string, unknown>>[] {
  return published
    .filter((one) => one.name === name && one.event === 'asyncEnd')
    .map(({ message }) => message);
}

// One partner with everything that it does, over the sandbox.
beforeAll(async () => {
  let webhooks: Webhooks | undefined;
  const sandbox = createSandbox({
    async fetch(input, init) {
      const request = new Request(input, init);
      request.headers.set('traceparent', traceparent);
      return (await webhooks?.fetch(request)) ?? new Response(null, { status: 404 });
    },
  });
  const { deployment, fetch } = sandbox;
  await new ExchangeClient({ deployment, fetch }).onboard({
    partner_code: 'acme',
    email: 'dev@acme.example',
  });
  const link = sandbox.emails.at(-1)?.link ?? '';
  const credentials = sandbox.openLink(link);
  const inbox = sqliteInbox({
    path: join(folder, 'inbox.sqlite'),
    maxAttempts: 2,
    retry: { firstDelayMs: 1 },
  });
  const onDelivery = ({ digest }: DeliveryReport) => void secrets.push(digest ?? phone);
  webhooks = createWebhooks({ credentials, deployment, inbox, onDelivery, onError: () => {} }).onAny(
    (event) => {
      if (event.event_name === 'event.buy.received.fiat')
        throw new Error(`of order ${event.partner_order_id}`);
    },
  );
  webhooks.onUnrecognized(() => {});
  const exchange = new ExchangeClient({ deployment, credentials, fetch, retry: { firstDelayMs: 0 } });
  await exchange.whitelistIp();
  const order = {
    partner_order_id: 'A-1',
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: address,
    partner_callback_url: 'https://partner.example/orders',
  } as const;
  await exchange.createOrder(order);
  // Refused, with the id in the reply.
  await exchange.createOrder(order).catch(() => {});
  const down = () => Promise.reject(new TypeError(`no route for ${address}`));
  await new ExchangeClient({ deployment, credentials, fetch: down })
    .createOrder({ ...order, partner_order_id: 'A-2' })
    .catch(() => {});
  await sandbox.idle();
  await sandbox.advance('A-1', 'fiat_received');
  await sandbox.advance('A-1', 'credited');
  const [delivered] = sandbox.deliveries;
  const body = delivered?.body ?? '';
  const own = { headers: { traceparent: 'Ada Buyer' } };
  await webhooks.receive(body.replace('A-1', 'A-2'), own);
  const key = `${credentials.merchantSecretKey}${credentials.partnerSecretKey}`;
  await webhooks.receive(signBody({ event_name: 'event.of.Ada Buyer' }, { key }).text, own);
  // Handled before it is acknowledged, and failing.
  const direct = createWebhooks({ credentials, deployment, onError: () => {} });
  await direct.onAny(() => Promise.reject(new Error('of Ada Buyer'))).receive(body);
  await vi.waitFor(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }), 5_000);
  await inbox.stop();

  const operator = new MessengerClient({ deployment, masterKey: sandbox.masterKey, fetch });
  const generated = await operator.generateApiKey({ messenger_device_no: '1001' });
  const apiKey = String(Object(generated.body).api_key);
  const messenger = new MessengerClient({ deployment, apiKey, fetch });
  await fetch(new Request(messenger.scanDeviceUrl()));
  await messenger.sendMessage({ to_phone: phone, message: '493021 is your code.' });

  secrets.push(...Object.values(credentials).map(String), sandbox.masterKey, apiKey, '493021', link);
  secrets.push('dev@acme.example', '15000', 'no route', 'of order');
  listening.stop();
}, 20_000);

it('every channel is heard', () => {
  expect(new Set(published.map(({ name }) => name))).toEqual(new Set(names));
  expect(new Set(published.map(({ event }) => event))).toEqual(new Set(events));
});

it('no message holds a key, a phone number, an id or a body', () => {
  expect(published.length).toBeGreaterThan(70);
  expect(secrets.length).toBeGreaterThan(15);
  for (const { name, event, message } of published) {
    const { error, ...rest } = message;
    const text = `${JSON.stringify(rest)} ${error instanceof Error ? `${error.stack} ${error.cause}` : ''}`;
    const found = secrets.filter((secret) => secret.length > 1 && text.includes(secret));
    expect([name, event, found]).toEqual([name, event, []]);
  }
});

it('a message has the members that are documented, and no others', () => {
  const members = new Set(published.flatMap(({ message }) => Object.keys(message)));
  expect([...members].sort()).toEqual(
    ['attempt', 'code', 'error', 'event', 'method', 'operation', 'outcome']
      .concat(['result', 'status', 'traceparent', 'urlTemplate'])
      .sort(),
  );
  expect(new Set(published.map(({ message }) => message.result))).toEqual(new Set([undefined]));
});

describe('the traces', () => {
  it('of calls have operation, attempt, outcome, status and address without values', () => {
    const path = '/api/v1/no-auth/PartnerP2P/CreateOrder/';
    const created = { operation: 'createOrder', method: 'POST', urlTemplate: path, attempt: 1 };
    expect(ends('call').filter(({ operation }) => operation === 'createOrder')).toMatchObject([
      { ...created, outcome: 'succeeded', status: 200 },
      { ...created, outcome: 'unknown', status: 409, code: 'http_error' },
      { ...created, outcome: 'unknown', code: 'network_error' },
    ]);
  });

  it('of deliveries say what was answered, and name published events only', () => {
    expect(ends('delivery')).toMatchObject([
      { traceparent, event: 'event.buy.init', outcome: 'stored', status: 200 },
      { traceparent, event: 'event.buy.received.fiat', outcome: 'stored' },
      { traceparent, event: 'event.buy.credited.crypto', outcome: 'stored' },
      { traceparent: undefined, outcome: 'refused', status: 401, code: 'signature_mismatch' },
      { event: 'other', outcome: 'stored' },
      { event: 'event.buy.init', outcome: 'failed', status: 500, code: 'handler_failed' },
    ]);
  });

  it('of handling have the trace context of the request, every attempt', () => {
    const handled = ends('handle');
    expect(handled.filter(({ event }) => event === 'event.buy.received.fiat')).toMatchObject([
      { traceparent, attempt: 1, outcome: 'failed', code: 'handler_failed' },
      { traceparent, attempt: 2, outcome: 'failed', code: 'handler_failed' },
    ]);
    expect(handled).toContainEqual(
      expect.objectContaining({ traceparent, event: 'event.buy.credited.crypto', outcome: 'handled' }),
    );
  });
});
