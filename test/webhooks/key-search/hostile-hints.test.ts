import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/json/json-value.ts';
import { keyHints } from '../../../src/webhooks/key-search/key-hints.ts';
import { buyInitBody, hmacHex, signedText } from '../../support/bodies.ts';
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

const deep: JsonValue = JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`);
const values: [string, JsonValue][] = [
  ['huge', 'F'.repeat(20_000)],
  ['empty', ''],
  ['null', null],
  ['a number', 5],
  ['true', true],
  ['an object', { toString: 'F1', length: 2, split: null }],
  ['a list', ['F1', 'F2']],
  ['deep', deep],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['two lines', 'P-1\nF1'],
  ['another merchant', 'F3'],
  ['beyond ASCII', '₦'.repeat(300)],
];
const members = [
  'fiat_currency',
  'currency',
  'pair',
  'platform_merchant_id',
  'partner_id',
  'partner_code',
  'partner_callback_url',
  'partner_order_id',
];

describe.each(values)('a body that says %s of whose it is', (_, value) => {
  const says: JsonObject = Object.fromEntries(members.map((name) => [name, value]));

  it('is verified with the key that signed it, and refused with none', async () => {
    const { webhooks } = searchingWebhooks(1_000_000, { credentials: merchants(12) });
    webhooks.onUnrecognized(() => {});
    const authentic = delivery(buyInitBody(says), keyOf(11));
    expect(await webhooks.receive(authentic)).toMatchObject({ kind: 'handled', key: { merchant: 'F11' } });
    expect(await webhooks.receive(forged(says))).toMatchObject({ code: 'signature_mismatch' });
    expect(await webhooks.receive(eventOf(10))).toMatchObject({ kind: 'handled', key: { merchant: 'F10' } });
  });
});

it('a body that says nothing at all is verified', async () => {
  const { webhooks } = searchingWebhooks(1_000_000, { credentials: merchants(12) });
  webhooks.onUnrecognized(() => {});
  expect(await webhooks.receive(signedText('{}', hmacHex('{}', keyOf(9))))).toMatchObject({
    key: { merchant: 'F9' },
  });
});

it('members named __proto__ and constructor are members like others', async () => {
  const { webhooks } = searchingWebhooks(1_000_000, { credentials: merchants(12) });
  webhooks.onUnrecognized(() => {});
  const text = '{"__proto__":{"fiat_currency":"F1"},"constructor":{"partner_id":"P-1"}}';
  expect(await webhooks.receive(signedText(text, hmacHex(text, keyOf(9))))).toMatchObject({
    key: { merchant: 'F9' },
  });
});

it('merchants may be named like members of every object', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'F5', 'F6'];
  const credentials = {
    ...merchants(1),
    merchantSecretKeys: Object.fromEntries(names.map((name, place) => [name, `sk_merchant_${place}`])),
  };
  const { webhooks } = searchingWebhooks(1_000_000, { credentials });
  for (const [place, name] of names.entries()) {
    const body = eventOf(place, { fiat_currency: name, partner_order_id: name });
    expect(await webhooks.receive(body)).toMatchObject({ kind: 'handled', key: { merchant: name } });
  }
});

it('only short texts are looked up and remembered', () => {
  const names = keyHints(
    { ...buyInitBody(), ...Object.fromEntries(members.map((name) => [name, 'F'.repeat(501)])) },
    {},
  );
  expect(names).toEqual({ partners: [], merchants: [], sender: '', order: undefined });
});

it('what forged deliveries say is never learned, and pushes nothing out', async () => {
  // Enough for the searches of the flood, and not much more.
  const receiver = searchingWebhooks(64_000, { keys: namelessKeys(10) });
  const url = { partner_callback_url: 'https://p.example/9' };
  expect(await receiver.webhooks.receive(eventOf(9, { ...url, partner_order_id: 'A-1' }))).toMatchObject({
    key: { index: 9 },
  });
  for (let index = 0; index < 5_000; index++) {
    await receiver.webhooks.receive(forged({ partner_callback_url: `https://forged.example/${index}` }));
  }
  await exhaust(receiver, forgedOf(9, url));
  const next = eventOf(9, { ...url, partner_order_id: 'A-2' });
  expect(await receiver.webhooks.receive(next)).toMatchObject({ kind: 'handled', key: { index: 9 } });
});
