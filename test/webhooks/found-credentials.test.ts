import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import type { FindCredentials, UnverifiedDelivery } from '../../src/webhooks/delivery-keys.ts';
import { lambdaHandler } from '../../src/webhooks/lambda-handler.ts';
import type { RefusedBody } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../support/bodies.ts';
import { nextTurn } from '../support/next-turn.ts';
import { delivery, quietWebhooks } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

/** The credentials of a partner, named after it. */
function partner(name: string, more: Partial<PartnerCredentials> = {}): PartnerCredentials {
  return {
    partnerPublicKey: `pk_partner_${name}`,
    partnerSecretKey: `sk_partner_${name}`,
    merchantSecretKey: `sk_merchant_${name}`,
    partnerId: name,
    ...more,
  };
}

const keyOf = (name: string) => `sk_merchant_${name}sk_partner_${name}`;
const eventOf = (name: string, members: JsonObject = {}) => delivery(buyInitBody(members), keyOf(name));
const json = { 'content-type': 'application/json' };

/** Webhooks with a function, what it was told, and what was handled. */
function receiver(find: FindCredentials, options: WebhooksOptions = {}) {
  const told: UnverifiedDelivery[] = [];
  const handled: string[] = [];
  const webhooks = quietWebhooks({
    ...options,
    credentials: (unverified, given) => {
      told.push(unverified);
      return find(unverified, given);
    },
  }).onUnrecognized((_, { key }) => {
    handled.push(`unrecognized by ${key.partnerId}`);
  });
  webhooks.onAny((event, { key }) => {
    handled.push(`${event.partner_order_id} by ${key.partnerId}`);
  });
  return { webhooks, told, handled };
}

/** The partner that the path names. */
const byPath: FindCredentials = ({ url }) => {
  const name = /\/orders\/([\w-]+)/.exec(url ?? '')?.[1];
  return name === undefined || name === 'stranger' ? undefined : partner(name);
};

describe('a delivery for which a function returns credentials', () => {
  it('is verified with them, and the handler is told whose they are', async () => {
    const { webhooks, handled } = receiver(byPath);
    expect(await webhooks.receive(eventOf('p7'), { url: '/orders/p7' })).toMatchObject({
      kind: 'handled',
      key: { index: 0, partnerId: 'p7' },
    });
    expect(handled).toEqual(['A-1001 by p7']);
  });

  it('is answered 401 under those of another partner', async () => {
    const { webhooks, handled } = receiver(byPath);
    const outcome = await webhooks.receive(eventOf('p7'), { url: '/orders/p8' });
    expect(outcome).toMatchObject({ kind: 'refused', status: 401, code: 'signature_mismatch' });
    expect(handled).toEqual([]);
  });

  it('is verified with a list of generations, found later', async () => {
    const sets = [partner('new', { partnerId: 'P-1' }), partner('old', { partnerId: 'P-1' })];
    const { webhooks } = receiver(async () => sets);
    const outcomes = [await webhooks.receive(eventOf('old')), await webhooks.receive(eventOf('new'))];
    expect(outcomes).toMatchObject([{ kind: 'handled', key: { index: 1 } }, { kind: 'duplicate' }]);
  });

  it('is another delivery than the same body of another partner', async () => {
    const shared = { merchantSecretKey: 'sk_merchant_s', partnerSecretKey: 'sk_partner_s' };
    const { webhooks } = receiver(({ url }) => partner('any', { ...shared, partnerId: url }));
    const body = eventOf('s');
    const kinds = [];
    for (const url of ['/a', '/b', '/a']) kinds.push((await webhooks.receive(body, { url })).kind);
    expect(kinds).toEqual(['handled', 'handled', 'duplicate']);
  });

  it('has them looked up only if its signature is well-formed', async () => {
    const { webhooks, told } = receiver(byPath);
    for (const body of ['nothing', '{"a":1}', '{"signature":"00"}']) {
      expect(await webhooks.receive(body, { url: '/orders/p7' })).toMatchObject({ kind: 'refused' });
    }
    expect(told).toEqual([]);
  });
});

describe('the function is told', () => {
  it('path and query, and headers by their lower-case names, by answer and by lambdaHandler', async () => {
    const { webhooks, told } = receiver(() => partner('p7'));
    const headers = { ...json, 'X-Partner': 'p7', missing: undefined };
    const body = eventOf('p7');
    await webhooks.answer({ method: 'POST', url: '/orders/p7?a=1', headers, body });
    await lambdaHandler(webhooks)({
      requestContext: { http: { method: 'POST' } },
      rawPath: '/orders/p7',
      rawQueryString: 'a=1',
      headers: { ...json, 'x-partner': 'p7' },
      body,
      isBase64Encoded: false,
    });
    const expected = { url: '/orders/p7?a=1', headers: { ...json, 'x-partner': 'p7' } };
    expect(told).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
  });

  it('claims under the published names', async () => {
    const wireNames = { platform_order_ref: 'acme_order_ref' };
    const deployment = defineDeployment({ wireNames });
    const { webhooks, told } = receiver(() => partner('p7'), { deployment });
    const { platform_order_ref, ...body } = buyInitBody();
    await webhooks.receive(delivery({ ...body, acme_order_ref: 'R-1' }, keyOf('p7')));
    expect(told).toMatchObject([{ claimed: { platform_order_ref: 'R-1' } }]);
  });

  it('everything that the body claims, its signature included', async () => {
    const { webhooks, told } = receiver(() => partner('p7'));
    const body = eventOf('p7', { extra: [1] });
    await webhooks.receive(body);
    expect(told).toMatchObject([{ claimed: JSON.parse(body) }]);
  });
});

it('a function that changes what the delivery claims changes nothing for the handler', async () => {
  const change = (claimed: Record<string, JsonValue>) => {
    Object.assign(Object(claimed.extra), { list: [] });
    Object.assign(claimed, { fiat_amount: '999999', injected: true, signature: 'none' });
  };
  for (const wireNames of [{}, { platform_order_ref: 'acme_order_ref' }]) {
    const body = eventOf('p7', { extra: { list: [[1]] }, acme_order_ref: 'R-1' });
    const deployment = defineDeployment({ wireNames });
    const events: unknown[] = [];
    const keep = async (event: unknown) => {
      await nextTurn();
      events.push(structuredClone(event));
    };
    const changing: FindCredentials = ({ claimed }) => {
      change(claimed);
      // Once more while the handler runs, as a function can that keeps it.
      setImmediate(() => change(claimed));
      return partner('p7');
    };
    for (const credentials of [changing, partner('p7')])
      expect(await quietWebhooks({ deployment, credentials }).onAny(keep).receive(body)).toMatchObject({
        status: 200,
      });
    expect(events[0]).toEqual(events[1]);
  }
});

describe('the answer is 401', () => {
  it.each<[string, () => ReturnType<FindCredentials>]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['an empty list', () => []],
    ['an empty list, later', async () => []],
  ])('when the function knows nobody: %s', async (_, find) => {
    const refused: RefusedBody[] = [];
    const { webhooks } = receiver(find, { onRefused: (body) => refused.push(body) });
    expect(await webhooks.receive(eventOf('p7'))).toMatchObject({
      kind: 'refused',
      status: 401,
      code: 'signature_mismatch',
    });
    expect(refused).toHaveLength(1);
  });
});

describe('the answer is 503, with one warning, since the delivery may be authentic', () => {
  const { partnerId: _, ...nameless } = partner('p7');
  it.each<[string, () => unknown, RegExp]>([
    ['the function throws', () => JSON.parse('{'), /no usable credentials: .*JSON/],
    ['it rejects', () => Promise.reject(new Error('no sk_partner_secret here')), /: no .*here/],
    ['it throws what is no error', () => Promise.reject('sk_partner_secret'), /the cause is unknown/],
    ['it throws a SignatureError', () => Promise.reject(thrown), /no usable credentials/],
    ['a set has no name', () => [partner('p7'), nameless], /without partnerId or partnerCode/],
    ['a set is null', () => [null], /Credentials are missing/],
    ['a set is no set', () => ({ partnerId: 'P-1' }), /partnerPublicKey is missing/],
  ])('when %s', async (_, find, message) => {
    const { webhooks, handled } = receiver(find as FindCredentials);
    const warnings = await warningsDuring(async () => {
      for (let count = 0; count < 3; count++) {
        expect(await webhooks.receive(eventOf('p7'))).toMatchObject({
          kind: 'unverified',
          status: 503,
          code: 'keys_unavailable',
          error: { name: 'KeyError', message: expect.stringMatching(message) },
        });
      }
    });
    expect(warnings.map(({ message: text }) => text)).toEqual([expect.stringMatching(message)]);
    expect(String(warnings)).not.toContain('sk_partner_secret');
    expect(String(warnings)).not.toContain('Give credentials as a function');
    expect(handled).toEqual([]);
  });

  it('when it does not settle within 5 seconds, and its signal is aborted', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let signal: AbortSignal | undefined;
    const { webhooks } = receiver((_, options) => {
      ({ signal } = options);
      return new Promise(() => {});
    });
    const received = webhooks.receive(eventOf('p7'));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await received).toMatchObject({
      code: 'keys_unavailable',
      error: { message: expect.stringContaining('it did not settle within 5000 ms') },
    });
    expect(signal?.aborted).toBe(true);
  });
});

/** A verification of the user's own that failed inside the function. */
const thrown = Object.assign(new Error('inner'), { name: 'SignatureError', code: 'signature_mismatch' });
