import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import * as digest from '../../src/signature/digest.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

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

describe('with 100 keys', () => {
  const webhooks = quietWebhooks({ credentials: merchants(100) }).onAny(() => {});
  /** How many digests one delivery costs. */
  async function digestsOf(body: string): Promise<number> {
    vi.clearAllMocks();
    await webhooks.receive(body);
    return vi.mocked(digest.isSignedWith).mock.calls.length;
  }

  it.each([0, 1, 31, 98, 99])('the one in place %i verifies, whatever the body claims', async (index) => {
    expect(await webhooks.receive(eventOf(index, `first-${index}`))).toMatchObject({
      kind: 'handled',
      key: { index: 0, merchant: `F${index}` },
    });
  });

  it('a delivery costs the same whichever of them matches, and when none does', async () => {
    for (const index of [0, 1, 40, 99, 120]) expect(await digestsOf(eventOf(index))).toBe(100);
  });

  it('the first of two that are the same is reported', async () => {
    const twice = [merchants(32), { ...merchants(32), partnerId: 'P-2' }];
    const outcome = await quietWebhooks({ credentials: twice })
      .onAny(() => {})
      .receive(eventOf(3));
    expect(outcome).toMatchObject({ key: { index: 0, partnerId: 'P-1', merchant: 'F3' } });
  });
});
