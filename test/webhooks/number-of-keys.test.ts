import { afterEach, describe, expect, it, vi } from 'vitest';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { LoadedKeys } from '../../src/credentials/key-ring.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import * as digest from '../../src/signature/digest.ts';
import { buyInitBody } from '../support/bodies.ts';
import { thrownBy } from '../support/refusal.ts';
import { delivery, quietWebhooks } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

vi.mock('../../src/signature/digest.ts', { spy: true });

afterEach(() => {
  vi.clearAllMocks();
});

/** One partner with so many merchants. */
function merchants(count: number): PartnerCredentials {
  return {
    partnerPublicKey: 'pk_partner_p',
    partnerSecretKey: 'sk_partner_p',
    merchantSecretKeys: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`F${index}`, `sk_merchant_${index}`]),
    ),
    partnerId: 'P-1',
  };
}

const keyOf = (index: number) => `sk_merchant_${index}sk_partner_p`;
const eventOf = (index: number, order = `A-${index}`) =>
  delivery(buyInitBody({ partner_order_id: order, fiat_currency: 'NGN' }), keyOf(index));

describe('with 64 keys', () => {
  const webhooks = quietWebhooks({ credentials: merchants(64) }).onAny(() => {});
  /** How many digests one delivery costs. */
  async function digestsOf(body: string): Promise<number> {
    vi.clearAllMocks();
    await webhooks.receive(body);
    return vi.mocked(digest.findSigner).mock.calls.length;
  }

  it.each([0, 1, 31, 62, 63])('the one in place %i verifies, whatever the body claims', async (index) => {
    expect(await webhooks.receive(eventOf(index, `first-${index}`))).toMatchObject({
      kind: 'handled',
      key: { index: 0, merchant: `F${index}` },
    });
  });

  it('a delivery costs the same whichever of them matches, and when none does', async () => {
    for (const index of [0, 1, 40, 63, 99]) expect(await digestsOf(eventOf(index))).toBe(64);
  });

  it('the first of two that are the same is reported', async () => {
    const twice = [merchants(32), { ...merchants(32), partnerId: 'P-2' }];
    const outcome = await quietWebhooks({ credentials: twice })
      .onAny(() => {})
      .receive(eventOf(3));
    expect(outcome).toMatchObject({ key: { index: 0, partnerId: 'P-1', merchant: 'F3' } });
  });
});

describe('more than 64 keys are refused at construction, and the error names the function', () => {
  const message = expect.stringMatching(
    /at most 64, and there are 65 .*credentials as a function, \(\{ url, headers, claimed \}\) => credentials/,
  );
  it.each<[string, object]>([
    ['of one partner', { credentials: merchants(65) }],
    ['of several sets', { credentials: [merchants(60), merchants(5)] }],
    ['as they are', { keys: Array.from({ length: 65 }, (_, index) => `key ${index}`) }],
  ])('%s', (_, options) => {
    expect(thrownBy(() => quietWebhooks(options))).toMatchObject({ code: 'invalid_option', message });
  });
});

describe('a ring that loads more than 64 keys', () => {
  it('goes on with the keys before, and warns once', async () => {
    const source: { keys: LoadedKeys; time: number } = { keys: merchants(2), time: 0 };
    const ring = createKeyRing({ load: () => source.keys, now: () => source.time });
    const webhooks = quietWebhooks({ credentials: ring }).onAny(() => {});
    expect(await webhooks.receive(eventOf(0))).toMatchObject({ status: 200 });
    source.keys = merchants(70);
    source.time += 600_000;
    const warnings = await warningsDuring(async () => {
      expect(await webhooks.receive(eventOf(1))).toMatchObject({ status: 200 });
      expect(await webhooks.receive(eventOf(60))).toMatchObject({ status: 503 });
    });
    expect(warnings.filter(({ message }) => /at most 64/.test(message))).toHaveLength(1);
  });

  it('has no keys if these are the first: 503', async () => {
    const ring = createKeyRing({ load: () => merchants(65) });
    expect(await quietWebhooks({ credentials: ring }).receive(eventOf(0))).toMatchObject({
      kind: 'unverified',
      error: { code: 'keys_unavailable', message: expect.stringContaining('at most 64') },
    });
  });
});

describe('a refusal with a credentials function tells nothing by its time', () => {
  const partners = new Map([
    ['/one', merchants(1)],
    ['/five', { ...merchants(5), partnerId: 'P-5' }],
  ]);
  const padding = 'x'.repeat(60_000);
  /** Digests over the whole body, whose texts are compared too: all of the work that takes time. */
  async function workOf(webhooks: ReturnType<typeof quietWebhooks>, url: string, key: string) {
    vi.clearAllMocks();
    const outcome = await webhooks.receive(delivery(buyInitBody({ padding }), key), { url });
    const { calls } = vi.mocked(digest.findSigner).mock;
    return { status: outcome.status, lengths: calls.map(([, keys, { text }]) => keys.length * text.length) };
  }

  it.each(['/one', '/five'])('a stranger costs what the partner at %s costs', async (url) => {
    const webhooks = quietWebhooks({ credentials: ({ url: at }) => partners.get(at ?? '') });
    const known = await workOf(webhooks, url, 'forged');
    const stranger = await workOf(webhooks, '/stranger', 'forged');
    expect(known).toMatchObject({ status: 401, lengths: expect.arrayContaining([expect.any(Number)]) });
    expect(stranger).toEqual(known);
    expect(known.lengths[0]).toBeGreaterThan(60_000);
  });

  it('a stranger who comes first costs a digest, too', async () => {
    const webhooks = quietWebhooks({ credentials: () => [] });
    expect((await workOf(webhooks, '/stranger', 'forged')).lengths).toHaveLength(1);
  });

  it('a partner with one key costs what one with five costs, after one delivery of each', async () => {
    const webhooks = quietWebhooks({ credentials: ({ url }) => partners.get(url ?? '') });
    for (const url of partners.keys()) await workOf(webhooks, url, 'forged');
    const counts = [];
    for (const url of [...partners.keys(), '/stranger']) counts.push(await workOf(webhooks, url, 'forged'));
    expect(counts.map(({ lengths }) => lengths.length)).toEqual([5, 5, 5]);
  });

  it('an authentic delivery costs only the digests of its own partner', async () => {
    const webhooks = quietWebhooks({ credentials: ({ url }) => partners.get(url ?? '') }).onAny(() => {});
    await workOf(webhooks, '/five', 'forged');
    expect(await workOf(webhooks, '/one', keyOf(0))).toMatchObject({ status: 200, lengths: { length: 1 } });
  });
});
