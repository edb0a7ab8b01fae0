import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/internal/json.ts';
import { buyCreditedBody, hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { times } from '../support/repeat.ts';
import { delivery, quietWebhooks } from './deliveries.ts';
import { send, serve } from './http/server.ts';
import { fetchRequest } from './http/transports.ts';

const { signature: _, ...event } = buyCreditedBody({ note: 'é😀"\\' });

/** Webhooks for which any handler call is counted, and which would accept the event itself. */
function counting() {
  const calls: unknown[] = [];
  const webhooks = quietWebhooks({ onError: () => void calls.push('onError') })
    .onAny(() => void calls.push('onAny'))
    .onUnrecognized(() => void calls.push('onUnrecognized'));
  return { calls, webhooks };
}

const many = times(3_000, 10_000);

it(`of ${many} forged variants of a valid event every one is refused, and no handler is called`, async () => {
  const { calls, webhooks } = counting();
  const codes = new Map<string, number>();
  for (const forgery of forgeries(event, many)) {
    const outcome = await webhooks.receive(forgery);
    if (outcome.kind !== 'refused') throw new Error(`Not refused, but ${outcome.kind}: ${forgery}`);
    expect([400, 401]).toContain(outcome.status);
    codes.set(outcome.code, (codes.get(outcome.code) ?? 0) + 1);
  }
  expect(calls).toEqual([]);
  // The variants do reach each way of being refused.
  expect([...codes.keys()].toSorted()).toEqual([
    'body_not_json',
    'body_not_object',
    'body_not_utf8',
    'signature_duplicated',
    'signature_malformed',
    'signature_mismatch',
    'signature_missing',
  ]);
  // And the event itself is still welcome.
  expect(await webhooks.receive(delivery(event))).toMatchObject({ kind: 'handled' });
});

it(`of ${many / 10} forged variants every one is refused by fetch`, async () => {
  const { calls, webhooks } = counting();
  for (const body of forgeries(event, many / 10, 2)) {
    const response = await webhooks.fetch(fetchRequest({ body }));
    expect([400, 401]).toContain(response.status);
  }
  expect(calls).toEqual([]);
});

it(`of ${many / 20} forged variants every one is refused by node`, async () => {
  const { calls, webhooks } = counting();
  await using server = await serve(webhooks.node);
  for (const body of forgeries(event, many / 20, 3)) {
    expect([400, 401]).toContain((await send(server.port, { body })).status);
  }
  expect(calls).toEqual([]);
});

/**
 * Variants of an authentic delivery, none of them authentic. The event has no white space between its members,
 * and none is added: next to the signature or around the body it would not make a forgery.
 */
function* forgeries(event: JsonObject, count: number, seed = 1): Generator<Uint8Array> {
  const random = seeded(seed);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[random(items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  };
  const unsigned = JSON.stringify(event);
  const right = hmacHex(unsigned);
  const bytes = Buffer.from(signedText(unsigned));
  const members = Object.keys(event);
  const printable = () => String.fromCharCode(0x21 + random(0x5e));

  /** Another event under the signature of this one. */
  function changed(): JsonObject {
    const copy = structuredClone(event);
    const name = pick(members);
    const ways: (() => void)[] = [
      () => delete copy[name],
      () => {
        copy[name] =
          typeof copy[name] === 'number' ? copy[name] + 1 + random(1000) : `${copy[name]}${printable()}`;
      },
      () => {
        copy[`added_${random(1000)}`] = random(1000);
      },
      () => {
        copy.buyer_crypto_address = `T${hmacHex(String(random(1e9))).slice(0, 33)}`;
      },
      () => {
        copy[name] = { [name]: copy[name] ?? null };
      },
    ];
    pick(ways)();
    return copy;
  }

  const wrongKeys = [
    '',
    'x',
    'sk_partner_test1',
    'sk_merchant_test1',
    'pk_partner_test1',
    orderKey.toUpperCase(),
  ];
  const wrongSignatures = (text: string) => [
    hmacHex(text, `${pick(wrongKeys)}${random(1000)}`),
    hmacHex(text, 'sk_partner_test1sk_merchant_test1'),
    createHash('sha512').update(text).digest('hex'),
    createHash('sha512')
      .update(text + orderKey)
      .digest('hex'),
    createHmac('sha256', orderKey).update(text).digest('hex'),
    createHmac('sha512', orderKey).update(text).digest('base64'),
    right.toUpperCase(),
    right.slice(random(128) + 1),
    right + printable(),
    '0'.repeat(128),
    '',
  ];

  /** The bytes with those from `at` to `at + removed` replaced. */
  const spliced = (at: number, removed: number, inserted: string | Uint8Array = '') =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at + removed)]);

  const ways: (() => string | Uint8Array)[] = [
    () => {
      const at = random(bytes.length);
      return spliced(at, 1, Uint8Array.of((bytes[at] ?? 0) ^ (1 << random(8))));
    },
    () => spliced(random(bytes.length), 1 + random(20)),
    () => spliced(random(bytes.length + 1), 0, printable()),
    () => bytes.subarray(0, random(bytes.length)),
    () => signedText(JSON.stringify(changed()), right),
    () => signedText(unsigned, pick(wrongSignatures(unsigned))),
    () => `${unsigned.slice(0, -1)},"signature":${pick(['null', '5', 'true', '[]', '{}', `["${right}"]`])}}`,
    () =>
      `${unsigned.slice(0, -1)},${`"signature":"${right}",`.repeat(1 + random(3))}"signature":"${right}"}`,
    () => signedText(`{"${pick(members)}":${random(1000)},${unsigned.slice(1)}`, right),
    () => signedText(`${unsigned.slice(0, -1)},"${pick(members)}":${random(1000)}}`, right),
    () => `[${signedText(unsigned)}]`,
    () => `{"event":${signedText(unsigned)}}`,
    () => signedText(unsigned) + pick(['\0', '{}', ',', 'x']),
    () => signedText(unsigned.replace(':', ': '), right),
    () => signedText(unsigned.replace('/', '\\/'), right),
  ];
  for (let made = 0; made < count; made++) yield Buffer.from(pick(ways)());
}

/** Numbers that look random and are the same in every run (mulberry32). */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
