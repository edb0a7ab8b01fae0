import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { DeploymentOptions } from '../../src/deployment/define-deployment.ts';
import { type ReceivedReply, type ReplyRules, usualOrderReply } from '../../src/deployment/order-reply.ts';
import { credentials, deploymentAt, order, requestError } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

type Read = Exclude<NonNullable<DeploymentOptions['readOrderReply']>, ReplyRules>;

/** A client of a service that answers every request so, and how often it was asked. */
function answering(body: unknown, { status = 200, read }: { status?: number; read?: Read } = {}) {
  const sent: Request[] = [];
  const exchange = new ExchangeClient({
    deployment: deploymentAt('https://service.example', { readOrderReply: read }),
    credentials,
    retry: { firstDelayMs: 0 },
    fetch: async (request) => {
      sent.push(request);
      return typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status });
    },
  });
  return { exchange, sent };
}

const said = { success: false, message: 'No such chain for +2348012345678.' };

/** Replies that deny the order, each in one member. */
const denials: readonly unknown[] = [
  { success: false },
  { ok: false },
  { isSuccess: false },
  { is_success: false },
  { status: false },
  { status: 'error' },
  { status: 'FAILED' },
  { STATUS: ' Rejected ' },
  { status: 400 },
  { status: '500' },
  { error: 'unavailable' },
  { error: { code: 7 } },
  { errors: [{ field: 'chain' }] },
  { Errors: { chain: 'unknown' } },
  { code: '400' },
  { code: 599 },
  { statusCode: '503' },
  { StatusCode: 422 },
  { responseCode: '99' },
  { response_code: '05' },
];

describe('createOrder, when a 2xx does not accept the order', () => {
  it.each([
    ...denials,
    { id: 7, data: { status: 'FAILED' } },
    // The last spelling of a member does not hide the first.
    { success: false, Success: true },
  ])('leaves the order unknown, and asks once: %j', async (body) => {
    const { exchange, sent } = answering(body);
    expect(await requestError(exchange.createOrder(order))).toMatchObject({
      code: 'reply_not_accepted',
      outcome: 'unknown',
      status: 200,
      attempts: 1,
      assumptions: ['order-reply'],
      body,
    });
    expect(sent).toHaveLength(1);
  });

  it.each<[string, unknown, number]>([
    ['an empty body', '', 200],
    ['an HTML page', '<html><title>Welcome</title></html>', 200],
    ['truncated JSON', '{"partner_order_id":"A-1001","platf', 200],
    ['a text', 'error: no such chain', 200],
    ['null', null, 200],
    ['a list', [], 200],
  ])('leaves the order unknown, and asks once: %s', async (_, body, status) => {
    const { exchange, sent } = answering(body, { status });
    const error = await requestError(exchange.createOrder(order));
    expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: 'unknown', status, attempts: 1 });
    expect(error.message).toContain('createOrder: the reply does not accept it (status ');
    expect(sent).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['an error object without members', { error: {} }],
    ['nothing but null', { data: null, error: null }],
    ['an empty list', { orders: [] }],
    ['a copy of the order', order],
    ['a copy of it one level down', { data: { ...order, items: [], of: {} } }],
    ['a copy of its amount as a number', { fiat_amount: Number(order.fiat_amount) }],
    ['another id', { status: 'ok', partner_order_id: 'other' }],
    ['another id one level down', { data: { ref: 7, partnerOrderId: 1 } }],
  ])('leaves the order unknown, and asks once: a reply with %s', async (_, body) => {
    const { exchange, sent } = answering(body);
    const error = await requestError(exchange.createOrder(order));
    expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: 'unknown', attempts: 1 });
    expect(sent).toHaveLength(1);
  });

  it('leaves the order unknown after a copy of all that was posted, signature included', async () => {
    const exchange = new ExchangeClient({
      deployment: deploymentAt('https://service.example'),
      credentials,
      fetch: async (request) => new Response(await request.text()),
    });
    expect(await requestError(exchange.createOrder(order))).toMatchObject({ outcome: 'unknown' });
  });

  it('takes no empty reply for an acceptance, unless the deployment does', async () => {
    const noContent = { status: 204, body: null };
    const fetch = async () => new Response(noContent.body, { status: noContent.status });
    const createWith = (readOrderReply?: Read) => {
      const deployment = deploymentAt('https://service.example', { readOrderReply });
      return new ExchangeClient({ deployment, credentials, fetch }).createOrder(order);
    };
    expect(await requestError(createWith())).toMatchObject({ outcome: 'unknown', status: 204 });
    const read: Read = (reply) =>
      reply.status === 204 && reply.body === undefined ? 'accepted' : usualOrderReply(reply);
    expect(await createWith(read)).toMatchObject({ status: 204, body: undefined });
  });

  it.each<[string, unknown]>([
    ['a reference beside a copy of the order', { ...order, platform_order_ref: 'P-1' }],
    ['the id of the order, and a sign', { partner_order_id: order.partner_order_id, created: true }],
    ['a reference one level down', { data: { ...order, platform_order_ref: 'P-1' } }],
    ['an id that is nothing', { partner_order_id: null, created: true }],
    ['success', { success: true, status: 'success', error: null, errors: [], statusCode: 201, code: '00' }],
    ['an empty error', { error: '' }],
    ['an error that is false', { error: false }],
    ['an error 0', { error: 0 }],
    ['each code of a success', [0, '0', '00', '000', 200, '200'].map((responseCode) => ({ responseCode }))],
    ['a code that is no status', { code: 'NGN', status: 'PENDING', statusCode: 600, responseCode: null }],
    ['the state of the order', { status: 'PENDING', data: { status: 'created', code: 399 } }],
    ['a denial two levels down, and one in a list', { data: { of: { ok: false } }, log: [{ ok: false }] }],
  ])('takes it for accepted with %s', async (_, body) => {
    for (const each of Array.isArray(body) ? body : [body]) {
      expect((await answering(each).exchange.createOrder(order)).status).toBe(200);
    }
  });

  it('hides a reason that repeats data of the buyer, and says how to read such replies', async () => {
    const { exchange } = answering(said);
    const { message } = await requestError(exchange.createOrder({ ...order, buyer_phone: '+2348012345678' }));
    expect(message).toContain('createOrder: the reply does not accept it (status 200): "[redacted]"');
    expect(message).toContain('; it may have acted: look first. ');
    expect(message).toContain('Likely: readOrderReply is needed. See ');
    expect(message).not.toContain('2348012345678');
  });

  it('leaves other calls alone', async () => {
    expect((await answering(said).exchange.whitelistIp()).body).toEqual(said);
  });
});

describe('readOrderReply of the deployment', () => {
  it('gets status, headers and body of a 2xx, and may accept what looks like a failure', async () => {
    const seen: ReceivedReply[] = [];
    const read: Read = (reply) => {
      seen.push(reply);
      return 'accepted';
    };
    expect((await answering(said, { status: 202, read }).exchange.createOrder(order)).body).toEqual(said);
    expect(seen).toMatchObject([{ status: 202, body: said }]);
    expect(seen[0]?.headers.get('content-type')).toContain('application/json');
  });

  it.each(['refused', 'unknown'] as const)(
    'may say %s of a success, which is not repeated',
    async (verdict) => {
      const { exchange, sent } = answering({ ok: true }, { read: () => verdict });
      const error = await requestError(exchange.createOrder(order));
      expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: verdict, status: 200, attempts: 1 });
      expect(sent).toHaveLength(1);
    },
  );

  it('is not asked about another status', async () => {
    const read: Read = () => 'accepted';
    const { exchange } = answering(said, { status: 422, read });
    expect(await requestError(exchange.createOrder(order))).toMatchObject({
      outcome: 'refused',
      status: 422,
    });
  });

  it.each<[string, () => unknown]>([
    ['throws', () => Promise.prototype.then.call(1)],
    ['returns nothing', () => undefined],
    ['returns true', () => true],
    ['is async', () => Promise.reject(new Error('later'))],
  ])('leaves the order unknown if it %s, and says so', async (_, wrong) => {
    // What a JavaScript caller may pass.
    const { exchange, sent } = answering({ ok: true }, { read: wrong as Read });
    const error = await requestError(exchange.createOrder(order));
    expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: 'unknown', status: 200 });
    expect(error.message).toContain(
      'readOrderReply of the deployment has to return accepted, refused, unknown',
    );
    expect(sent).toHaveLength(1);
  });
});
