/** For the author of a webhook handler: its tests, with `node --test`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineDeployment } from 'partner-exchange-sdk';
import { deliver, eventBody, refusedDeliveries, signedDelivery } from 'partner-exchange-sdk/testing';
import { createShop } from './support/shop.ts';

const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};
const deployment = defineDeployment({});
const keys = { credentials, deployment };

describe('the shop', () => {
  it('ships an order that is credited, once', async () => {
    const shop = createShop(keys);
    const delivery = signedDelivery(
      eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1' }),
      keys,
    );
    // The service may post an event again.
    for (const _ of [1, 2]) assert.equal((await deliver(shop.webhooks, delivery)).status, 200);
    assert.deepEqual(shop.shipped, ['A-1']);
  });

  it('holds an order that somebody else has paid', async () => {
    const shop = createShop(keys);
    const body = eventBody('event.buy.received.fiat_kyc_error', {
      partner_order_id: 'A-2',
      kyc_error_type: 'THIRD_PARTY_PAYMENT',
      sender_name: 'Zoë Müller',
    });
    assert.equal((await deliver(shop.webhooks, signedDelivery(body, keys))).status, 200);
    assert.equal(shop.held.get('A-2'), 'paid by Zoë Müller');
  });

  for (const [name, delivery] of Object.entries(
    refusedDeliveries(eventBody('event.buy.credited.crypto'), keys),
  )) {
    it(`ships nothing for a delivery that is ${name}`, async () => {
      const shop = createShop(keys);
      assert.equal((await deliver(shop.webhooks, delivery)).status, 401);
      assert.deepEqual(shop.shipped, []);
    });
  }

  it('does not acknowledge an event that it cannot read', async () => {
    const shop = createShop(keys);
    const body = { ...eventBody('event.buy.init'), event_name: 'event.sell.init' };
    assert.equal((await deliver(shop.webhooks, signedDelivery(body, keys))).status, 500);
  });
});
