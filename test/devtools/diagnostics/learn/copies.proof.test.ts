import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../../src/credentials/signing-key.ts';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { tryVerify } from '../../../../src/devtools/diagnostics/try-verify.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { defaultScheme, type SignatureScheme } from '../../../../src/signature/signature-scheme.ts';
import { partnerCredentials } from '../../../drawn/partner.ts';
import { buyInitBody } from '../../../support/bodies.ts';

const key = signingKey(partnerCredentials, 'order');

function withSignature(event: object, signature: string): string {
  return JSON.stringify({ ...event, signature });
}

function signed(id: string, scheme: SignatureScheme = defaultScheme): string {
  return signBody(buyInitBody({ partner_order_id: id }), { key, scheme }).text;
}

/** What anybody can make of an event that somebody else has signed. */
const copies: Readonly<Record<string, (body: string) => string>> = {
  'one blank more': (body) => body.replace(',', ', '),
  'a line feed in it': (body) => body.replace('{', '{\n'),
  'indented members': (body) => JSON.stringify(JSON.parse(body), null, 2),
  'its members in another order': (body) =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).reverse())),
  'an escape': (body) => body.replace('"pair"', '"\\u0070air"'),
  'its signature in base64': (body) =>
    body.replace(
      /"signature":"(\w+)"/,
      (_, hex) => `"signature":"${Buffer.from(hex, 'hex').toString('base64')}"`,
    ),
  'the signed text as its only value': (body) => {
    const { signature } = JSON.parse(body);
    return JSON.stringify({ note: body.replace(/,"signature":"\w+"/, ''), signature });
  },
};

const orders: readonly (readonly [string, (original: string, copy: string) => readonly string[]])[] = [
  ['after', (original, copy) => [original, copy]],
  ['many times before', (original, copy) => [...Array<string>(5).fill(copy), original]],
];

describe.each(Object.entries(copies))('a copy of an event with %s', (_, copyOf) => {
  it.each(orders)('that comes %s it proves nothing, and counts among others', async (_, inOrder) => {
    const original = signed('C-1');
    const bodies = [...inOrder(original, copyOf(original)), signed('C-2'), signed('C-3')];
    const { deployment, deliveries } = await learn({
      deliveries: bodies.map((body) => ({ body })),
      credentials: partnerCredentials,
    });
    const { signature } = defineDeployment(deployment);
    const digest = createHmac('sha512', key).update('{"fiat_amount":10.0}').digest('hex');
    const next = `{"fiat_amount":10.0,"signature":"${digest}"}`;
    expect(deployment).toEqual({});
    expect(tryVerify(next, [key], signature).refusal).toBeUndefined();
    expect(deliveries).toEqual({ genuine: 3, others: bodies.length - 3 });
  });
});

describe('one forgery among twenty events', () => {
  const event = (id: string) => buyInitBody({ partner_order_id: id });
  const scheme = { ...defaultScheme, construction: 'hash-suffix', encoding: 'base64' } as const;
  const genuine = Array.from({ length: 19 }, (_, index) => signed(`C-${index}`, scheme));
  const { partnerPublicKey } = partnerCredentials;
  const forgeries: Readonly<Record<string, string>> = {
    'signed with another key': signBody(event('F'), { key: 'sk_of_somebody_else', scheme }).text,
    'signed under another scheme': signBody(event('F'), { key: 'sk_of_somebody_else' }).text,
    'signed with the public key': signBody(event('F'), { key: partnerPublicKey, scheme }).text,
    'signed without a key': withSignature(event('F'), createHmac('sha512', '').update('{}').digest('hex')),
    'changed after it was signed': (genuine[3] ?? '').replace('C-3', 'C-X'),
    'without a signature': JSON.stringify({ ...event('F'), signature: undefined }),
  };
  const learnOf = (bodies: readonly string[]) =>
    learn({ deliveries: bodies.map((body) => ({ body })), credentials: partnerCredentials });

  it.each(Object.entries(forgeries))(
    '%s changes no row, first, second or last, and is said',
    async (name, forged) => {
      const undisturbed = await learnOf(genuine);
      expect(undisturbed.deployment).toEqual({ signature: scheme });
      for (const place of [0, 1, genuine.length]) {
        const learnt = await learnOf(genuine.toSpliced(place, 0, forged));
        expect({ place, rows: learnt.rows }).toEqual({ place, rows: undisturbed.rows });
        expect(learnt.deliveries).toEqual({ genuine: 19, others: 1 });
        expect(learnt.findings.map(({ what }) => what)).toContain(
          name === 'without a signature'
            ? '1 of 20 was no signed body.'
            : '1 of 20 was signed by other keys.',
        );
      }
    },
  );
});

it('a service that signs another text than it sends is found by one event, whatever copies come with it', async () => {
  const scheme = { ...defaultScheme, serialization: 'compact' } as const;
  const telling = createHmac('sha512', key).update('{"fiat_amount":10}').digest('hex');
  const [first, second] = [signed('C-1', scheme), signed('C-2', scheme)];
  const bodies = [first, first.replace(',', ', '), `{"fiat_amount":10.0,"signature":"${telling}"}`, second];
  const { deployment, deliveries } = await learn({
    deliveries: bodies.map((body) => ({ body })),
    credentials: partnerCredentials,
  });
  expect(deployment).toEqual({ signature: scheme });
  expect(deliveries).toEqual({ genuine: 4, others: 0 });
});

it.each([
  [400, { signature: { ...defaultScheme, serialization: 'compact' } }],
  [600, {}],
])(
  'behind %i bodies that no key signed, an event is compared under other schemes only if they are few',
  async (forgeries, expected) => {
    const scheme = { ...defaultScheme, serialization: 'compact' } as const;
    const telling = createHmac('sha512', key).update('{"fiat_amount":10}').digest('hex');
    const forged = (index: number) => `{"n":${index},"signature":"${'a1'.repeat(64)}"}`;
    const bodies = [
      signed('C-1', scheme),
      ...Array.from({ length: forgeries }, (_, index) => forged(index)),
      `{"fiat_amount":10.0,"signature":"${telling}"}`,
    ];
    const { deployment } = await learn({
      deliveries: bodies.map((body) => ({ body })),
      credentials: partnerCredentials,
    });
    expect(deployment).toEqual(expected);
  },
);
