import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../../src/credentials/signing-key.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import type { SandboxOrderStep } from '../../../../src/devtools/sandbox/world/order-registry.ts';
import { isValidationError } from '../../../../src/errors/errors.ts';
import { parseOrderEvent } from '../../../../src/events/parse-order-event.ts';
import { decimalLiteral } from '../../../../src/internal/json-scanner.ts';
import { verifyBody } from '../../../../src/signature/verify-body.ts';
import { bearer, callback, callbackUrl, onboarded, order, place } from '../support.ts';

const events: [string, SandboxOrderStep[], object][] = [
  ['event.buy.init', [], { fiat_payment_status: 'PENDING', crypto_txn_hash: null }],
  ['event.buy.received.fiat', ['fiat_received'], { crypto_payment_status: 'STARTED' }],
  [
    'event.buy.received.fiat_kyc_error',
    ['no_kyc'],
    { kyc_error_type: 'NO_KYC', default_kyc_url: expect.stringMatching(/^https:/) },
  ],
  [
    'event.buy.received.fiat_kyc_error',
    ['fiat_received', 'third_party_payment'],
    { kyc_error_type: 'THIRD_PARTY_PAYMENT', default_kyc_url: null },
  ],
  ['event.buy.third_party_error', ['third_party_error'], { fiat_payment_status: 'PAID' }],
  [
    'event.buy.credited.crypto',
    ['fiat_received', 'credited'],
    { crypto_payment_status: 'PAID', crypto_txn_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
  ],
  [
    'buy.event.close',
    ['no_kyc', 'refunded'],
    {
      ...{ exchange_rate: '1500', payment_link: null, crypto_txn_hash: null },
      meta_data: {
        ...{ status: 'refunded', message: expect.any(String), refund_account: '0123456789' },
        ...{ amount_refunded: '15000.50', fee: 0 },
      },
    },
  ],
];

async function start(options: SandboxOptions = {}, status?: number) {
  const partnerSide = callback(status);
  const sandbox = createSandbox({ fetch: partnerSide.fetch, ...options });
  const credentials = await onboarded(sandbox);
  return { sandbox, credentials, received: partnerSide.received };
}

describe('the events', () => {
  it.each(events)('have the members of %s after %j', async (name, steps, members) => {
    const { sandbox, credentials, received } = await start();
    expect((await place(sandbox, credentials)).status).toBe(200);
    for (const step of steps) await sandbox.advance('A-1', step);
    await sandbox.idle();
    const last = received.at(-1);
    expect(last?.url).toBe(callbackUrl);
    expect(last?.headers.get('authorization')).toBe(bearer(credentials));
    const { value } = verifyBody(last?.text ?? '', { key: signingKey(credentials, 'order') });
    expect(value).toMatchObject({ event_name: name, ...members });
    expect(parseOrderEvent(value)).toMatchObject({ kind: 'known', event: { event_name: name } });
    expect(received).toHaveLength(steps.length + 1);
  });

  it.each([
    ['awkward', /^(.*),\n {2}"signature" : "([0-9a-f]{128})"(.*)$/s],
    ['compact', /^(.*),"signature":"([0-9a-f]{128})"(.*)$/s],
  ] as const)(
    'spelled %s are signed as another implementation of HMAC-SHA512 says',
    async (spelling, form) => {
      const { sandbox, credentials, received } = await start({ eventSpelling: spelling });
      await place(sandbox, credentials);
      await sandbox.idle();
      const [, before, signature, after = ''] = form.exec(received[0]?.text ?? '') ?? [];
      const key = credentials.merchantSecretKey + credentials.partnerSecretKey;
      expect(createHmac('sha512', key).update(`${before}${after}`).digest('hex')).toBe(signature);
    },
  );

  it('are spelled so that a receiver which parses and writes them again refuses them', async () => {
    const { sandbox, credentials, received } = await start();
    await place(sandbox, credentials, { ...order, fiat_amount: '15000' });
    await sandbox.idle();
    const { text = '' } = received[0] ?? {};
    const key = signingKey(credentials, 'order');
    expect(verifyBody(text, { key }).value).toMatchObject({ fiat_amount_to_pay: 15000 });
    for (const indent of [0, 2, 4]) {
      const again = JSON.stringify(JSON.parse(text), null, indent);
      expect(() => verifyBody(again, { key })).toThrow('does not match');
    }
    // Each of the spellings by itself would be enough.
    expect(text).toContain('"https:\\/\\/partner.example\\/events"');
    expect(text).toContain('\\u1ecc');
    expect(text).toContain('15000.0');
    expect(Object.keys(JSON.parse(text))[0]).toBe('1');
    expect(text.indexOf('"1" :')).toBeGreaterThan(text.indexOf('"signature"'));
  });

  it('give the amount ordered, and the rate as a number except in the close event', async () => {
    const { sandbox, credentials, received } = await start({
      eventSpelling: 'compact',
      deployment: { signature: { construction: 'hmac', serialization: 'compact', encoding: 'hex' } },
    });
    await place(sandbox, credentials, { ...order, fiat_amount: '100000000000.15' });
    await sandbox.advance('A-1', 'fiat_received');
    await sandbox.advance('A-1', 'refunded');
    expect(received.map(({ text }) => decimalLiteral(text, 'fiat_amount_to_pay'))).toEqual(
      Array(3).fill('100000000000.15'),
    );
    expect(JSON.parse(received[0]?.text ?? '').exchange_rate).toBe(1500);
    expect(JSON.parse(received[2]?.text ?? '')).toMatchObject({
      exchange_rate: '1500',
      meta_data: { amount_refunded: '100000000000.15', fee: 0 },
    });
  });
});

describe('advance', () => {
  it('takes the reference of the service too, and the order moves', async () => {
    const { sandbox, credentials } = await start();
    await place(sandbox, credentials);
    const ref = sandbox.orders[0]?.platform_order_ref ?? '';
    const delivery = await sandbox.advance(ref, 'fiat_received');
    expect(delivery).toMatchObject({ name: 'event.buy.received.fiat', acknowledged: true, attempts: 1 });
    expect(sandbox.orders[0]).toMatchObject({ state: 'fiat_received', fiat_payment_status: 'PAID' });
  });

  const illegal: [SandboxOrderStep[], SandboxOrderStep][] = [
    [[], 'credited'],
    [['fiat_received', 'credited'], 'refunded'],
  ];
  it.each(illegal)('after %j refuses %s and posts nothing', async (steps, step) => {
    const { sandbox, credentials } = await start();
    await place(sandbox, credentials);
    for (const earlier of steps) await sandbox.advance('A-1', earlier);
    await expect(sandbox.advance('A-1', step)).rejects.toSatisfy(isValidationError);
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(steps.length + 1);
    expect(sandbox.orders[0]?.state).toBe(steps.at(-1) ?? 'created');
  });

  it('refuses an unknown order, an ambiguous one and an unknown step', async () => {
    const { sandbox, credentials } = await start();
    await place(sandbox, credentials);
    await expect(sandbox.advance('A-9', 'fiat_received')).rejects.toSatisfy(isValidationError);
    // @ts-expect-error: a step that does not exist
    await expect(sandbox.advance('A-1', 'toString')).rejects.toSatisfy(isValidationError);
    const other = await onboarded(sandbox, sandbox, { partner_code: 'beta', email: 'dev@beta.example' });
    await place(sandbox, other);
    await expect(sandbox.advance('A-1', 'fiat_received')).rejects.toThrow(/several orders/);
  });
});
