import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineCredentials } from '../../src/credentials/define-credentials.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { unwrap } from '../../src/webhooks/unwrap.ts';
import { buyInitBody, hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { thrownBy } from '../support/refusal.ts';
import { credentials, delivery } from './deliveries.ts';

describe('unwrap', () => {
  it('returns the typed event of an authentic body, given as text or as bytes', () => {
    for (const body of [delivery(buyInitBody()), Buffer.from(delivery(buyInitBody()))]) {
      const event = unwrap(body, { credentials });
      expect(event.event_name).toBe('event.buy.init');
      expect(event.partner_order_id).toBe(buyInitBody().partner_order_id);
      expectTypeOf(event).toEqualTypeOf<OrderEvent>();
    }
  });

  it('refuses a body that was changed, signed with another key, or not signed', () => {
    const authentic = delivery(buyInitBody());
    const forged = [
      authentic.replace('"event.buy.init"', '"event.buy.init "'),
      delivery(buyInitBody(), 'sk_merchant_othersk_partner_test1'),
      JSON.stringify({ event_name: 'event.buy.init' }),
      '',
    ];
    for (const body of forged) {
      expect(thrownBy(() => unwrap(body, { credentials }))).toMatchObject({ name: 'SignatureError' });
    }
  });

  it('shows no secret and no expected signature when it refuses', () => {
    const error = thrownBy(() => unwrap(delivery(buyInitBody(), 'another-key'), { credentials }));
    const shown = String(error) + JSON.stringify(error);
    expect(shown).not.toContain(credentials.partnerSecretKey);
    expect(shown).not.toContain(hmacHex(delivery(buyInitBody()), orderKey).slice(0, 16));
  });

  it.each([
    ['of an unknown name', { ...buyInitBody(), event_name: 'event.buy.other' }],
    ['that cannot be read', { ...buyInitBody(), partner_order_id: 7.5 }],
  ])('throws for an authentic body %s, so that it is not answered 200', (_, body) => {
    expect(thrownBy(() => unwrap(delivery(body), { credentials }))).toMatchObject({
      name: 'InboxError',
      code: 'event_unrecognized',
    });
  });

  it('takes every generation of one partner, and refuses several partners', () => {
    const named = (partnerId: string, secret: string) =>
      defineCredentials({ ...credentials, partnerSecretKey: secret, partnerId });
    const generations = [named('P-1', 'sk_partner_new1'), named('P-1', 'sk_partner_test1')];
    expect(unwrap(delivery(buyInitBody()), { credentials: generations }).event_name).toBe('event.buy.init');
    const partners = [named('P-1', 'sk_partner_new1'), named('P-2', 'sk_partner_test1')];
    expect(thrownBy(() => unwrap(delivery(buyInitBody()), { credentials: partners }))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('one partner'),
    });
  });

  it('reads the signature scheme and the names of a deployment', () => {
    const deployment = defineDeployment({
      signature: { construction: 'hmac', serialization: 'as-sent', encoding: 'base64' },
      wireNames: { platform_order_ref: 'acme_order_ref' },
    });
    const { platform_order_ref: acme_order_ref, signature: _, ...others } = buyInitBody();
    const text = JSON.stringify({ acme_order_ref, ...others });
    const body = signedText(text, Buffer.from(hmacHex(text, orderKey), 'hex').toString('base64'));
    expect(unwrap(body, { credentials, deployment })).toMatchObject({ platform_order_ref: acme_order_ref });
  });

  it('refuses what a framework parsed, unknown options, and missing credentials', () => {
    // Sound: what a caller without types passes.
    const parsed = JSON.parse(delivery(buyInitBody())) as string;
    expect(thrownBy(() => unwrap(parsed, { credentials }))).toMatchObject({ code: 'raw_body_required' });
    const misspelt = { credentials, deploymnet: {} };
    expect(thrownBy(() => unwrap('{}', misspelt))).toMatchObject({ code: 'invalid_option' });
    // @ts-expect-error credentials are required
    expect(thrownBy(() => unwrap('{}', {}))).toMatchObject({ code: 'invalid_credentials' });
  });
});
