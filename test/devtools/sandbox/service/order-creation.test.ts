import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { bearer, callback, onboarded, order, partner, place, post, refusal, reply } from '../support.ts';

const { fetch } = callback();

describe('createOrder', () => {
  it('answers with the order record', async () => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    const { status, body } = await reply(place(sandbox, credentials));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      partner_order_id: 'A-1',
      platform_order_ref: expect.stringMatching(/^SBX-1-/),
      fiat_amount_to_pay: 15000.5,
      crypto_amount_to_receive: 10.000333,
      exchange_rate: 1500,
      pair: 'NGN/USDT',
      fiat_payment_status: 'PENDING',
      crypto_payment_status: 'PENDING',
      payment_link: null,
      crypto_txn_hash: null,
    });
    expect(body).not.toHaveProperty('event_name');
    expect(sandbox.orders).toMatchObject([
      { state: 'created', fiat_amount: '15000.50', partnerId: credentials.partnerId, payload: order },
    ]);
    const kenyan = { ...order, partner_order_id: 'A-2', fiat_currency: 'KES' };
    expect((await reply(place(sandbox, credentials, kenyan))).body.payment_link).toMatch(/^https:/);
  });

  it('refuses a caller whose IP was not captured, and only that one', async () => {
    const sandbox = createSandbox({ fetch });
    await post(sandbox, 'onboard', partner);
    const credentials = sandbox.openLink(sandbox.emails[0]?.link ?? '');
    expect(await refusal(place(sandbox, credentials))).toEqual([403, 'ip_not_whitelisted']);
    const capture = sandbox.deployment.stagingUrl + sandbox.deployment.paths.whitelistIp;
    await sandbox.fetch(capture, { method: 'POST', ip: '203.0.113.7' });
    expect(sandbox.whitelistedIps).toEqual(['203.0.113.7']);
    expect(await refusal(place(sandbox, credentials))).toEqual([403, 'ip_not_whitelisted']);
    const from = (ip: string) => ({
      deployment: sandbox.deployment,
      fetch: (input: string | URL | Request, init?: RequestInit) => sandbox.fetch(input, { ...init, ip }),
    });
    expect((await place(from('::ffff:203.0.113.7'), credentials)).status).toBe(200);
  });

  it('refuses a missing, foreign or secret bearer token', async () => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    const tokens = [
      ['', 'bearer_missing'],
      [credentials.partnerPublicKey, 'bearer_missing'],
      ['Bearer pk_partner_0', 'unknown_public_key'],
      [`Bearer ${credentials.partnerSecretKey}`, 'unknown_public_key'],
    ] as const;
    for (const [authorization, code] of tokens) {
      expect(await refusal(place(sandbox, credentials, order, { authorization }))).toEqual([401, code]);
    }
  });

  it('refuses a signature made with the partner secret alone, and a changed body', async () => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    const swapped = { ...credentials, merchantSecretKey: 'sk_merchant_other' };
    expect(await refusal(place(sandbox, swapped))).toEqual([401, 'signature_mismatch']);
    const text = JSON.stringify({ ...order, signature: '0'.repeat(128) });
    const forged = post(sandbox, 'createOrder', text, { authorization: bearer(credentials) });
    expect(await refusal(forged)).toEqual([401, 'signature_mismatch']);
    const short = JSON.stringify({ ...order, signature: 'abc' });
    const malformed = post(sandbox, 'createOrder', short, { authorization: bearer(credentials) });
    expect(await refusal(malformed)).toEqual([401, 'signature_malformed']);
    expect(sandbox.orders).toEqual([]);
  });

  it('takes the partner ID when it is right and refuses a wrong one', async () => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    const wrong = place(sandbox, credentials, order, { 'x-partner-id': 'partner-0' });
    expect(await refusal(wrong)).toEqual([401, 'partner_id_mismatch']);
    const right = { 'x-partner-id': credentials.partnerId };
    expect((await place(sandbox, credentials, order, right)).status).toBe(200);
  });

  it('refuses a partner_order_id of the same partner again, not that of another partner', async () => {
    const sandbox = createSandbox({ fetch });
    const one = await onboarded(sandbox);
    const two = await onboarded(sandbox, sandbox, { partner_code: 'beta', email: 'dev@beta.example' });
    expect((await place(sandbox, one)).status).toBe(200);
    expect(await refusal(place(sandbox, one))).toEqual([409, 'order_exists']);
    expect((await place(sandbox, two)).status).toBe(200);
    expect(sandbox.orders).toHaveLength(2);
  });

  it('accepts one of two simultaneous orders with the same partner_order_id', async () => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    const replies = await Promise.all([1, 2].map(() => place(sandbox, credentials)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(1);
  });

  it.each([
    ['fiat_amount', 15000],
    ['fiat_amount', '0.00'],
    ['partner_callback_url', 'ftp://partner.example'],
  ])('refuses a payload whose %s is %j, naming it', async (member, value) => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    const { status, body } = await reply(place(sandbox, credentials, { ...order, [member]: value }));
    expect([status, body.error]).toEqual([400, 'invalid_order']);
    expect(body.message).toContain(member);
  });

  it('refuses an amount that the number in an event could not give exactly', async () => {
    const sandbox = createSandbox({ fetch });
    const credentials = await onboarded(sandbox);
    for (const fiat_amount of ['9007199254740993', '0.12345678901234567890']) {
      const refused = place(sandbox, credentials, { ...order, fiat_amount });
      expect(await refusal(refused)).toEqual([400, 'amount_not_exact']);
    }
    for (const [index, fiat_amount] of ['0.0000001', '1000000000000000000000', '0.1'].entries()) {
      const body = { ...order, fiat_amount, partner_order_id: `B-${index}` };
      expect((await reply(place(sandbox, credentials, body))).body.fiat_amount_to_pay).toBe(
        Number(fiat_amount),
      );
    }
  });

  it.each(['', '-1', '0.00', '1.', '.5', '1e3', '0x10', ' 1', '1,5', '9'.repeat(61)])(
    'refuses the amount %j under any schema',
    async (fiat_amount) => {
      const sandbox = createSandbox({ fetch, deployment: { orderSchema: z.looseObject({}) } });
      const refused = place(sandbox, await onboarded(sandbox), { ...order, fiat_amount });
      expect(await refusal(refused)).toEqual([400, 'order_unreadable']);
    },
  );

  it.each([
    ['15000.50', 10.000333],
    ['0.01', 0.000006],
    ['9007199254740991', 6004799503160.661],
    ['1500000000000000000000', 1e18],
  ])('gives %s at 1500 as %d: further digits are cut off', async (fiat_amount, amount) => {
    const sandbox = createSandbox({ fetch });
    const { body } = await reply(place(sandbox, await onboarded(sandbox), { ...order, fiat_amount }));
    expect(body.crypto_amount_to_receive).toBe(amount);
  });

  it('takes another payload with its own schema, and readOrder says where things are', async () => {
    const orderSchema = z.strictObject({
      id: z.string(),
      amount_to_collect: z.string(),
      currency: z.string(),
    });
    const sandbox = createSandbox({
      fetch,
      deployment: { orderSchema },
      readOrder: ({ id = '', amount_to_collect = '', currency = '' }) => ({
        partner_order_id: id,
        fiat_amount: amount_to_collect,
        fiat_currency: currency,
        chain: 'eusd-mob',
        buyer_crypto_address: 'none',
        partner_callback_url: 'https://partner.example/events',
      }),
    });
    const credentials = await onboarded(sandbox);
    const payload = { id: 'C-1', amount_to_collect: '3000', currency: 'GHS' };
    const { body } = await reply(place(sandbox, credentials, payload));
    expect(body).toMatchObject({ partner_order_id: 'C-1', pair: 'GHS/EUSD', crypto_amount_to_receive: 2 });
    expect(await refusal(place(sandbox, credentials))).toEqual([400, 'invalid_order']);
  });
});
