import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import { type OrderReply, type OrderVerdict, usualOrderReply } from '../../src/deployment/order-reply.ts';
import { isConfigurationError } from '../../src/errors/errors.ts';
import { ExchangeClient } from '../../src/exchange/exchange-client.ts';
import { credentials, deploymentAt, order, rejection, requestError, schemaOf } from '../http/clients.ts';
import { watchRejections } from '../http/watch-rejections.ts';

watchRejections();

type Read = NonNullable<DeploymentOptions['readOrderReply']>;

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

describe('createOrder, when a 2xx says that it failed', () => {
  it.each<[string, unknown]>([
    ['success: false', { success: false }],
    ['success: "False"', { success: 'False' }],
    ['status: "error"', { status: 'error' }],
    ['status: "FAILED"', { status: 'FAILED' }],
    ['an error text', { error: 'unavailable' }],
    ['an error object', { error: { code: 7 } }],
    ['an error list', { error: ['closed'] }],
    ['an error that is true', { error: true }],
    ['statusCode 400', { statusCode: 400 }],
    ['statusCode "503"', { statusCode: '503' }],
  ])('leaves the order unknown, and asks once: %s', async (_, body) => {
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

  it.each<[string, unknown]>([
    ['an empty body', ''],
    ['a text', 'OK'],
    ['null', null],
    ['a list', []],
    ['success', { success: true, status: 'success', error: null, statusCode: 201 }],
    ['an empty error', { error: '' }],
    ['an error object without members', { error: {} }],
    ['an error that is false', { error: false }],
    ['an error 0', { error: 0 }],
    ['the state of the order', { status: 'PENDING', data: { success: false } }],
  ])('is accepted with %s', async (_, body) => {
    expect((await answering(body).exchange.createOrder(order)).status).toBe(200);
  });

  it('quotes the reason without the data of the buyer, and says how to read such replies', async () => {
    const { exchange } = answering(said);
    const { message } = await requestError(exchange.createOrder({ ...order, buyer_phone: '+2348012345678' }));
    expect(message).toContain('createOrder: the reply says that it failed (status 200): "No such chain for');
    expect(message).toContain('the service may have acted: find out before you repeat it.');
    expect(message).toContain('the service does not take this chain or currency (allowed-values)');
    expect(message).toContain('set readOrderReply of defineDeployment (order-reply)');
    expect(message).not.toContain('2348012345678');
  });

  it('comes before the schema of the call', async () => {
    const schema = schemaOf(() => ({ issues: [{ message: 'no' }] }));
    const { exchange } = answering(said);
    expect(await rejection(exchange.createOrder(order, { schema }))).toMatchObject({
      code: 'reply_not_accepted',
    });
  });

  it('leaves other calls alone', async () => {
    expect((await answering(said).exchange.whitelistIp()).body).toEqual(said);
  });

  it('reads any JSON without throwing', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const reply = { status: 200, headers: new Headers(), body: JSON.parse(text) };
        expect(['accepted', 'unknown']).toContain(usualOrderReply(reply));
      }),
    );
  });
});

describe('readOrderReply of the deployment', () => {
  it('gets status, headers and body of a 2xx, and may accept what looks like a failure', async () => {
    const seen: OrderReply[] = [];
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
      expect(error.message).toContain(`readOrderReply of the deployment says ${verdict} (status 200)`);
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

  it.each<[string, () => unknown, string]>([
    ['throws', () => Promise.prototype.then.call(1), 'threw instead of answering'],
    ['returns nothing', () => undefined, 'has to return accepted, refused, unknown'],
    ['returns true', () => true, 'has to return accepted, refused, unknown'],
    ['is async', () => Promise.reject(new Error('later')), 'has to return accepted, refused, unknown'],
  ])('leaves the order unknown if it %s, and says so', async (_, wrong, words) => {
    // What a JavaScript caller may pass.
    const { exchange, sent } = answering({ ok: true }, { read: wrong as Read });
    const error = await requestError(exchange.createOrder(order));
    expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: 'unknown', status: 200 });
    expect(error.message).toContain(`readOrderReply of the deployment ${words}`);
    expect(sent).toHaveLength(1);
  });

  it('has to be a function', () => {
    // What a JavaScript caller may pass.
    const readOrderReply = 'accepted' as unknown as Read;
    expect(() => defineDeployment({ readOrderReply })).toThrow(expect.toSatisfy(isConfigurationError));
  });

  it('is typed', () => {
    expectTypeOf<ReturnType<Read>>().toEqualTypeOf<OrderVerdict>();
    expectTypeOf<Parameters<Read>>().toEqualTypeOf<[reply: OrderReply]>();
    expectTypeOf(usualOrderReply).toExtend<Read>();
  });
});
