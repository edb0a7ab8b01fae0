import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../../src/credentials/signing-key.ts';
import { assumptions } from '../../../../src/deployment/assumptions.ts';
import {
  type Deployment,
  type DeploymentOptions,
  defineDeployment,
} from '../../../../src/deployment/define-deployment.ts';
import { shapeOfReply } from '../../../../src/deployment/reply-shape.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import type { CapturedDelivery } from '../../../../src/devtools/diagnostics/learn/read-samples.ts';
import { inForm, type ReplyForm } from '../../../../src/devtools/sandbox/settings/reply-forms.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { defaultScheme } from '../../../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { drawService } from '../../../drawn/draw-service.ts';
import { partnerCredentials } from '../../../drawn/partner.ts';
import type { ServiceOptions } from '../../../drawn/service-traits.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { type FaultRates, faultsAt } from '../../../support/fault-rates.ts';
import { type CaptureOptions, capture } from './capture.ts';

async function learnt(options?: ServiceOptions, capturing?: CaptureOptions, deployment?: Deployment) {
  const captured = await capture(options, capturing);
  const report = await learn({ ...captured, credentials: partnerCredentials, deployment });
  return { ...captured, ...report, row: (id: string) => report.rows.find((row) => row.id === id) };
}

const change = (name: string, member: string, value: string | number): ServiceOptions => ({
  event: (body) => (body.event_name === name ? { ...body, [member]: value } : body),
});
const scheme = (part: object) => ({ deployment: { signature: { ...defaultScheme, ...part } } });

const merchants = { ngn: 'sk_merchant_ngn', ghs: 'sk_merchant_ghs' };

it.each([
  [['ngn', 'ngn', 'ngn'], 'not-seen'],
  [['ngn', 'ghs', 'ngn'], 'proven'],
])(
  'events under the keys of %j leave it %s that a partner has several merchants',
  async (signers, verdict) => {
    const { merchantSecretKey: _, ...partner } = partnerCredentials;
    const credentials = { ...partner, merchantSecretKeys: merchants };
    const deliveries = signers.map((merchant, index) => {
      const key = signingKey(credentials, 'order', { merchant });
      return { body: signBody(buyInitBody({ partner_order_id: `M-${index}` }), { key }).text };
    });
    const { rows } = await learn({ deliveries, credentials });
    expect(rows.find(({ id }) => id === 'several-merchants')).toMatchObject({ verdict });
  },
);

describe('a service as assumed', () => {
  it('proves what its events can show, has nothing to set, and leaves the rest open with a way to see it', async () => {
    const { rows, deployment, deliveries, file } = await learnt();
    expect(rows.map(({ id }) => id)).toEqual(assumptions.map(({ id }) => id));
    expect(rows.filter(({ verdict }) => verdict === 'refuted')).toEqual([]);
    expect(rows.flatMap(({ id, verdict }) => (verdict === 'proven' ? id : []))).toEqual([
      'signature-construction',
      'signature-serialization',
      'signature-encoding',
      'signature-key',
      'merchant-concatenation',
      'regeneration-path',
      'order-path',
      'order-payload',
      'partner-order-id',
      'order-reply',
      'terminal-crypto-status',
      'event-statuses',
      'third-party-spelling',
      'third-party-error-body',
      'timestamp-form',
      'close-status',
      'event-shape',
      'event-content-type',
      'event-replay',
    ]);
    expect(rows.every(({ verdict, howToSee }) => (verdict === 'not-seen') === (howToSee !== undefined))).toBe(
      true,
    );
    expect(deployment).toEqual({});
    expect(file.overrides).toEqual([]);
    expect(deliveries).toEqual({ genuine: 32, others: 0 });
  });

  it('says since when, and names a sample', async () => {
    const { row } = await learnt();
    expect(row('event-shape')).toMatchObject({
      since: expect.stringMatching(/^2024-01-01T00:00:00/),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('proves nothing about events by one day alone', async () => {
    const { row } = await learnt({}, { days: 1 });
    for (const id of ['terminal-crypto-status', 'close-status', 'replies'])
      expect(row(id)?.verdict).toBe('not-seen');
  });
});

/** Every reply to an order in another form. */
const orderReply = (form: ReplyForm, status = 200): ServiceOptions => ({
  reply: (own, operation) =>
    operation === 'createOrder' && own.status === 200 ? { ...inForm(own, form), status } : own,
});
const fault = (rates: FaultRates): ServiceOptions => ({ faults: faultsAt('request', rates) });
describe('a service with another habit of replies is refuted', () => {
  it.each<[string, ServiceOptions, object]>([
    ['order-reply', orderReply('list'), { readOrderReply: { accepted: [{ status: 200, body: 'list' }] } }],
    [
      'order-reply',
      orderReply('empty', 202),
      { readOrderReply: { accepted: [{ status: 202, body: 'empty' }] } },
    ],
    ['order-reply', orderReply('null'), { readOrderReply: { accepted: [{ status: 200, body: 'null' }] } }],
    [
      'order-reply',
      orderReply('text'),
      { readOrderReply: { accepted: [{ status: 200, body: shapeOfReply('OK') }] } },
    ],
    [
      'errors',
      fault({ conflict: { rate: 0.5, status: 400, when: 'after' } }),
      { orderStatuses: { 400: 'unknown' } },
    ],
    [
      'order-rate-limit',
      fault({ too_many_requests: { rate: 0.6, when: 'after', retryAfterSeconds: 0 } }),
      { orderStatuses: { 429: 'unknown' } },
    ],
  ])('%s, and its override is written', async (id, options, set) => {
    const {
      row,
      rows,
      deployment,
      file,
      deliveries,
      replies,
      findings: _,
      ...rest
    } = await learnt(options, {
      days: options.faults === undefined ? 3 : 12,
    });
    expect(rest).toEqual({});
    expect(row(id)).toMatchObject({
      verdict: 'refuted',
      set,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(rows.filter(({ verdict }) => verdict === 'refuted').map((each) => each.id)).toEqual([id]);
    expect(deployment).toEqual(set);
    expect(file.overrides).toMatchObject([{ row: id, set, digest: expect.any(String) }]);
  });

  it('not by texts that differ from order to order: a person has to decide', async () => {
    const { row, deployment } = await learnt(orderReply('cut'));
    expect(row('order-reply')).toMatchObject({ verdict: 'refuted', override: expect.any(String) });
    expect(deployment).toEqual({});
  });
});

describe('compared with what is configured', () => {
  const usual: ServiceOptions = {};
  const list = { readOrderReply: { accepted: [{ status: 200, body: 'list' }] } };
  it.each<[string, ServiceOptions, DeploymentOptions, ServiceOptions]>([
    [
      'signature-encoding',
      scheme({ encoding: 'base64' }),
      { signature: { ...defaultScheme, encoding: 'base64' } },
      usual,
    ],
    ['order-reply', orderReply('list'), list, orderReply('empty')],
  ])('%s holds where it is set, and drifts where it is not', async (id, options, configured, other) => {
    const deployment = defineDeployment(configured);
    expect((await learnt(options, {}, deployment)).row(id)?.verdict).toBe('proven');
    expect((await learnt(other, {}, deployment)).row(id)?.verdict).toBe('refuted');
  });

  it('a name of its own is read, and another one drifts', async () => {
    const deployment = defineDeployment({ wireNames: { platform_order_ref: 'acme_order_ref' } });
    const named = (name: string) => ({ deployment: { wireNames: { platform_order_ref: name } } });
    expect((await learnt(named('acme_order_ref'), {}, deployment)).row('branded-names')).toMatchObject({
      verdict: 'not-seen',
      found: ['acme_order_ref'],
    });
    expect((await learnt(named('other_order_ref'), {}, deployment)).row('branded-names')).toMatchObject({
      verdict: 'refuted',
      found: ['other_order_ref'],
    });
    expect((await learnt({}, {}, deployment)).row('branded-names')?.found).toEqual(['platform_order_ref']);
  });
});

describe('a service with the other habit is refuted', () => {
  it.each<[string, ServiceOptions]>([
    ['signature-construction', scheme({ construction: 'hash-suffix' })],
    ['signature-serialization', scheme({ serialization: 'python-sorted' })],
    ['signature-encoding', scheme({ encoding: 'base64' })],
    ['signature-key', scheme({ orderKey: 'partner+merchant' })],
    ['merchant-concatenation', scheme({ keySeparator: ':' })],
    ['branded-names', { deployment: { wireNames: { platform_order_ref: 'acme_order_ref' } } }],
    ['terminal-crypto-status', change('event.buy.credited.crypto', 'crypto_payment_status', 'SETTLED')],
    ['event-statuses', change('event.buy.init', 'fiat_payment_status', 'CREATED')],
    ['event-statuses', change('event.buy.received.fiat', 'crypto_payment_status', 'PROCESSING')],
  ])('%s, and its override makes a receiver accept its events', async (id, options) => {
    const { deliveries } = await capture(options);
    const { rows, deployment } = await learn({ deliveries, credentials: partnerCredentials });
    const row = rows.find((each) => each.id === id);
    expect(row).toMatchObject({ verdict: 'refuted', set: expect.anything(), digest: expect.any(String) });
    expect(rows.filter(({ verdict }) => verdict === 'refuted').map((each) => each.id)).toEqual([id]);
    const webhooks = createWebhooks({
      credentials: partnerCredentials,
      deployment: defineDeployment(deployment),
    });
    const seen: string[] = [];
    webhooks.onAny(({ event_name }) => void seen.push(event_name));
    for (const { body } of deliveries) await webhooks.receive(body);
    expect(seen).toHaveLength(deliveries.length);
  });

  it.each<[string, ServiceOptions, string]>([
    [
      'terminal-crypto-status',
      change('event.buy.credited.crypto', 'crypto_payment_status', 'FAILED'),
      'FAILED',
    ],
    ['event-statuses', change('event.buy.received.fiat', 'fiat_payment_status', 'PENDING'), 'PENDING'],
    [
      'third-party-spelling',
      change('event.buy.received.fiat_kyc_error', 'kyc_error_type', 'PAYER_MISMATCH'),
      'PAYER_MISMATCH',
    ],
    [
      'timestamp-form',
      change('event.buy.received.fiat_kyc_error', 'created_at', '23/11/2026 10:00'),
      'a text in another form',
    ],
    [
      'timestamp-form',
      change('event.buy.received.fiat_kyc_error', 'created_at', 1_795_428_000_000),
      'a number',
    ],
    ['event-shape', change('event.buy.init', 'pair', 7), 'pair'],
    ['event-replay', { event: (body) => ({ ...body, sent_at: 1_795_428_000 }) }, 'sent_at'],
    [
      'third-party-error-body',
      change('event.buy.third_party_error', 'partner_order_id', 7),
      'partner_order_id',
    ],
  ])('%s, which a person has to settle', async (id, options, found) => {
    const { rows, row, deployment } = await learnt(options);
    expect(row(id)).toMatchObject({ verdict: 'refuted', override: expect.any(String) });
    expect(row(id)?.found.join()).toContain(found);
    expect(rows.filter(({ verdict }) => verdict === 'refuted').map((each) => each.id)).toEqual([id]);
    expect(deployment).toEqual({});
  });

  it('close-status', async () => {
    const { row } = await learnt({
      event: (body) =>
        body.event_name === 'buy.event.close' && typeof body.meta_data === 'object'
          ? { ...body, meta_data: { ...body.meta_data, status: 'closed' } }
          : body,
    });
    expect(row('close-status')).toMatchObject({ verdict: 'refuted', found: ['closed'] });
  });
});

it('sees that an event came again in another text, in another order', async () => {
  const key = signingKey(partnerCredentials, 'order');
  const sent = (id: string, members: JsonObject = {}) => ({
    body: signBody(buyInitBody({ partner_order_id: id, ...members }), { key }).text,
  });
  const learnOf = async (...deliveries: CapturedDelivery[]) => {
    const { rows } = await learn({ deliveries, credentials: partnerCredentials });
    return rows.find(({ id }) => id === 'event-order');
  };
  expect(await learnOf(sent('R-1'), sent('R-2'))).toMatchObject({ verdict: 'not-seen' });
  const row = await learnOf(sent('R-1'), sent('R-1'), sent('R-1', { copy: 2 }));
  expect(row).toMatchObject({ verdict: 'proven', found: ['twice', 'again'] });
});

it('sees repetitions, events of other names, and members that had to be read', async () => {
  const { row } = await learnt({ faults: faultsAt('event', { duplicate: 1, sell_side: 0.5 }) });
  expect(row('event-order')).toMatchObject({ verdict: 'proven', found: expect.arrayContaining(['twice']) });
  expect(row('other-events')?.verdict).toBe('proven');
  const read = await learnt(change('event.buy.credited.crypto', 'crypto_payment_status', 'paid'));
  expect(read.row('event-readings')?.verdict).toBe('proven');
  expect(read.row('terminal-crypto-status')?.verdict).toBe('not-seen');
});

it('does not settle what the samples cannot tell apart', async () => {
  const { row, deployment } = await learnt({ eventSpelling: 'compact' });
  expect(row('signature-serialization')?.verdict).not.toBe('refuted');
  expect(deployment).toEqual({});
});

it('counts apart what no key has signed, and whatever is no delivery', async () => {
  const { deliveries: genuine } = await capture();
  const forged = genuine.map(({ body }) => ({ body: String(body).replace('pair', 'pear') }));
  // Sound: what a program without types can pass.
  const odd = [{ body: '' }, { body: '[]' }, { body: '{"a":' }, { body: 7 }] as CapturedDelivery[];
  const deliveries = [...odd, forged[0] ?? { body: '' }, ...genuine, ...forged];
  const report = await learn({ deliveries, credentials: partnerCredentials });
  const alone = await learn({ deliveries: genuine, credentials: partnerCredentials });
  expect(report.deliveries).toEqual({ genuine: genuine.length, others: 5 + forged.length });
  expect(report.rows).toEqual(alone.rows);
});

it('holds no value of a buyer, and no key', async () => {
  const captured = await capture({
    ...change('event.buy.init', 'fiat_payment_status', 'CREATED'),
    ...orderReply('list'),
  });
  // Each event again, with members that differ.
  const key = signingKey(partnerCredentials, 'order');
  const again = captured.deliveries.map(({ body, ...rest }) => {
    const { signature: _, ...event } = JSON.parse(String(body));
    return {
      ...rest,
      body: signBody({ ...event, note: 'another-note', payment_link: 'another-link' }, { key }).text,
    };
  });
  const deliveries = [...captured.deliveries, ...again];
  const learntOf = await learn({ ...captured, deliveries, credentials: partnerCredentials });
  expect(learntOf.rows.filter(({ verdict }) => verdict === 'refuted').length).toBeGreaterThan(1);
  const text = JSON.stringify([learntOf, captured.replies]);
  const allowed =
    /^(event_name|fiat_payment_status|crypto_payment_status|kyc_error_type|status|pair|chain|fiat_currency)$/;
  const values = deliveries.flatMap(({ body }) => valuesOf(JSON.parse(String(body)), allowed));
  expect(values.length).toBeGreaterThan(100);
  expect(values.filter((value) => text.includes(value))).toEqual([]);
  for (const key of Object.values(partnerCredentials).filter((each) => each.includes('_')))
    expect(text).not.toContain(key);
});

function valuesOf(value: unknown, allowed: RegExp, name = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([each, inner]) => valuesOf(inner, allowed, each));
  const text = String(value);
  return allowed.test(name) || text.length < 5 ? [] : [text];
}

it.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'says no wrong word of drawn service %i',
  async (seed) => {
    const { options, assumptions: broken } = drawService(seed, {
      // Whether there is an order, and whose keys sign; changed members break rows that the draw does not name.
      asDocumented: ['merchants', 'orderPath', 'whitelist', 'duplicateOrders', 'members'],
    });
    const { rows, row, deployment } = await learnt({ ...options, merchants: undefined });
    const refuted = rows.flatMap(({ id, verdict }) => (verdict === 'refuted' ? id : []));
    const wrong = refuted.filter((id) => !broken.includes(id));
    // An event of another name proves that there are others, also where it stands for a published one.
    const blind = broken.filter((id) => row(id)?.verdict === 'proven' && id !== 'other-events');
    expect({ wrong, blind }).toEqual({ wrong: [], blind: [] });
    expect(defineDeployment(deployment).signature).toBeDefined();
  },
);

it('takes the same time and memory for the deliveries of 16,000 orders from the first to the last', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const key = signingKey(partnerCredentials, 'order');
  const marks: { heap: number; cpuMs: number }[] = [];
  function* deliveries() {
    for (let index = 0; index <= 16_000; index++) {
      // What is remembered is full after 10,000.
      if (index % 4_000 === 0) {
        collectGarbage();
        const { user, system } = process.cpuUsage();
        marks.push({ heap: process.memoryUsage().heapUsed, cpuMs: (user + system) / 1000 });
      }
      const at = new Date(index * 1000).toISOString();
      const body = buyInitBody({ partner_order_id: `N-${index}`, platform_order_ref: `R-${index}` });
      yield { body: signBody(body, { key }).text, receivedAt: at };
    }
  }
  const report = await learn({ deliveries: deliveries(), credentials: partnerCredentials });
  expect(report.deliveries).toEqual({ genuine: 16_001, others: 0 });
  const [, second, third, fourth, last] = marks;
  if (!second || !third || !fourth || !last) throw new Error('It has not read them all.');
  expect(last.heap - fourth.heap).toBeLessThan(700_000);
  const [early, late] = [third.cpuMs - second.cpuMs, last.cpuMs - fourth.cpuMs];
  expect(late).toBeLessThan(2 * early);
}, 120_000);

it('refuses options that it cannot read', async () => {
  // Sound: what a program without types can pass.
  await expect(learn({ deliveries: 7, credentials: partnerCredentials } as never)).rejects.toMatchObject({
    code: 'invalid_option',
  });
});
