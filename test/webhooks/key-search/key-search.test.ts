import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/credentials/create-key-ring.ts';
import { defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { signBody } from '../../../src/signature/sign-body.ts';
import { type SignatureScheme, schemeParts } from '../../../src/signature/signature-scheme.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery } from '../deliveries.ts';
import {
  eventOf,
  exhaust,
  forged,
  forgedOf,
  keyOf,
  merchants,
  namelessKeys,
  searchingWebhooks,
} from './rings.ts';

const plenty = 1_000_000_000;

describe('with 10,000 keys', () => {
  const places = [0, 5, 4_999, 9_999];

  it('a delivery that names its merchant is verified without a search, whoever it is', async () => {
    const receiver = searchingWebhooks(1, { credentials: merchants(10_000) });
    for (const place of places) {
      await exhaust(receiver, forgedOf(place));
      const outcome = await receiver.webhooks.receive(eventOf(place, { partner_order_id: `A-${place}` }));
      expect(outcome).toMatchObject({ kind: 'handled', key: { index: 0, merchant: `F${place}` } });
    }
  });

  it('one that names nobody is found by a search, and the next ones of its sender without', async () => {
    // Enough for these searches, and not much more.
    const receiver = searchingWebhooks(150_000, { keys: namelessKeys(10_000) });
    const named = (place: number, order: number) => ({
      partner_order_id: `A-${order}`,
      partner_callback_url: `https://p.example/${place}`,
    });
    for (const place of places) {
      const outcome = await receiver.webhooks.receive(eventOf(place, named(place, 1)));
      expect(outcome).toMatchObject({ kind: 'handled', key: { index: place } });
    }
    for (const place of places) {
      await exhaust(receiver, forgedOf(place, named(place, 2)));
      const outcome = await receiver.webhooks.receive(eventOf(place, named(place, 2)));
      expect(outcome).toMatchObject({ kind: 'handled', key: { index: place } });
    }
  });

  it('a forged one is refused, whatever it says', async () => {
    const { webhooks } = searchingWebhooks(plenty, { credentials: merchants(10_000) });
    for (const members of [{}, { fiat_currency: 'F17' }, { fiat_currency: 'F17', partner_id: 'P-1' }]) {
      expect(await webhooks.receive(forged(members))).toMatchObject({ code: 'signature_mismatch' });
    }
  });

  it('connections have many turns while many are searched for at once', async () => {
    const { webhooks } = searchingWebhooks(plenty, { credentials: merchants(10_000) });
    let isOver = false;
    const searches = Promise.all(Array.from({ length: 20 }, () => webhooks.receive(forged()))).finally(() => {
      isOver = true;
    });
    let turns = 0;
    for (; !isOver; turns++) await setImmediate();
    expect(turns).toBeGreaterThan(30);
    await searches;
  });

  it('other work goes on during a search', async () => {
    const { webhooks } = searchingWebhooks(plenty, { credentials: merchants(10_000) });
    let isOver = false;
    const search = webhooks.receive(forged()).finally(() => {
      isOver = true;
    });
    await setImmediate();
    expect(isOver).toBe(false);
    await search;
  });
});

describe('under every scheme', () => {
  const schemes = schemeParts.serialization.flatMap((serialization) =>
    schemeParts.construction.map((construction, index): SignatureScheme => {
      const encoding = schemeParts.encoding[index] ?? 'base64-hex';
      return { serialization, construction, encoding };
    }),
  );

  it.each(schemes)('$serialization $construction: the likely key, a searched one, none', async (scheme) => {
    // Signing is not what is tested here.
    const signed = (place: number, members: object) =>
      signBody({ ...buyInitBody(), ...members }, { key: keyOf(place), scheme }).text;
    const deployment = defineDeployment({ signature: scheme });
    const receiver = searchingWebhooks(100, { credentials: merchants(50), deployment });
    const searched = signed(40, { fiat_currency: 'elsewhere', pair: 'else/where' });
    expect(await receiver.webhooks.receive(searched)).toMatchObject({ key: { merchant: 'F40' } });
    await exhaust(receiver, signBody(buyInitBody(), { key: 'nobody', scheme }).text);
    const likely = signed(30, { fiat_currency: 'F30' });
    expect(await receiver.webhooks.receive(likely)).toMatchObject({ key: { merchant: 'F30' } });
  });

  it.each(schemeParts.orderKey)('with %s as the key', async (orderKey) => {
    const deployment = defineDeployment({
      signature: { construction: 'hmac', serialization: 'as-sent', encoding: 'hex', orderKey },
    });
    const sets = Array.from({ length: 9 }, (_, place) => ({
      partnerPublicKey: `pk_partner_${place}`,
      partnerSecretKey: `sk_partner_${place}`,
      merchantSecretKey: `sk_merchant_${place}`,
      partnerId: `P-${place}`,
    }));
    const key = {
      'merchant+partner': 'sk_merchant_7sk_partner_7',
      'partner+merchant': 'sk_partner_7sk_merchant_7',
      merchant: 'sk_merchant_7',
      partner: 'sk_partner_7',
      'public+partner': 'pk_partner_7sk_partner_7',
    }[orderKey];
    const { webhooks } = searchingWebhooks(plenty, { credentials: sets, deployment });
    const outcome = await webhooks.receive(delivery(buyInitBody(), key));
    expect(outcome).toMatchObject({ kind: 'handled', key: { index: 7, partnerId: 'P-7' } });
  });
});

describe('the key that is reported', () => {
  it('is the first of two sets of credentials with the same key, by any way to it', async () => {
    const twice = [merchants(6), { ...merchants(6), partnerId: 'P-2' }];
    const { webhooks } = searchingWebhooks(plenty, { credentials: twice });
    const outcome = await webhooks.receive(eventOf(3, { partner_id: 'P-2' }));
    expect(outcome).toMatchObject({ key: { index: 0, partnerId: 'P-1', merchant: 'F3' } });
  });

  it('is of the generation that signed, and what was learned of the other does not hinder', async () => {
    const receiver = searchingWebhooks(1, { credentials: [merchants(20, 2), merchants(20, 1)] });
    await exhaust(receiver, forgedOf(11));
    for (const [order, generation] of [1, 1, 2, 2, 1].entries()) {
      const body = eventOf(11, { partner_order_id: `A-${order}` }, generation);
      const outcome = await receiver.webhooks.receive(body);
      expect(outcome).toMatchObject({ kind: 'handled', key: { index: 2 - generation, merchant: 'F11' } });
    }
  });
});

describe('a key ring', () => {
  function ringOf(first: ReturnType<typeof merchants>[]) {
    const source = { sets: first, time: 0 };
    const ring = createKeyRing({ load: () => source.sets, now: () => source.time });
    return { source, receiver: searchingWebhooks(1, { credentials: ring }) };
  }

  it('is read again for new keys though there is no budget for searches', async () => {
    const { source, receiver } = ringOf([merchants(20, 1)]);
    await exhaust(receiver, forgedOf(5));
    source.sets = [merchants(20, 2), merchants(20, 1)];
    source.time += 30_000;
    expect(await receiver.webhooks.receive(eventOf(5, {}, 2))).toMatchObject({
      kind: 'handled',
      key: { index: 0, merchant: 'F5' },
    });
  });

  it('no longer accepts a key that was learned and then taken out', async () => {
    const { source, receiver } = ringOf([merchants(2, 2), merchants(2, 1)]);
    expect(await receiver.webhooks.receive(eventOf(1))).toMatchObject({ key: { index: 1 } });
    source.sets = [merchants(2, 2)];
    source.time += 600_000;
    const repeated = eventOf(1, { partner_order_id: 'A-2' });
    expect(await receiver.webhooks.receive(repeated)).toMatchObject({ code: 'signature_mismatch' });
    expect(await receiver.webhooks.receive(eventOf(1, {}, 2))).toMatchObject({ key: { index: 0 } });
  });
});
