import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import type { SigningOracle } from '../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { learn } from '../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { schemeParts } from '../../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { callback, onboarded, order, place, refusal, regenerate, reply } from './support.ts';

async function start(options: SandboxOptions = {}) {
  const { fetch, received } = callback();
  const sandbox = createSandbox({ fetch, clock: 'manual', ...options });
  return { sandbox, received, credentials: await onboarded(sandbox) };
}

describe('old keys', () => {
  it('die at the request for new ones, where the option says so: nothing works until the link is opened', async () => {
    const { sandbox, credentials: old } = await start({ oldKeysExpire: 'request' });
    expect((await regenerate(sandbox, old)).status).toBe(200);
    expect(await refusal(place(sandbox, old))).toEqual([401, 'unknown_public_key']);
    expect(await refusal(regenerate(sandbox, old))).toEqual([401, 'unknown_public_key']);
    const fresh = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
    expect(fresh.partnerSecretKey).not.toBe(old.partnerSecretKey);
    expect((await place(sandbox, fresh)).status).toBe(200);
  });
});

describe('several merchants', () => {
  it('have a key for each currency, for orders and for events', async () => {
    const { sandbox, credentials, received } = await start({ merchants: ['NGN', 'GHS'] });
    expect(Object.keys(credentials.merchantSecretKeys ?? {})).toEqual(['NGN', 'GHS']);
    const { deployment, fetch } = sandbox;
    const exchange = new ExchangeClient({ deployment, credentials, fetch, maxAttempts: 1 });
    await exchange.createOrder(order, { merchant: 'NGN' });
    const wrong = exchange.createOrder({ ...order, partner_order_id: 'A-2' }, { merchant: 'GHS' });
    await expect(wrong).rejects.toMatchObject({ status: 401, outcome: 'refused' });
    await sandbox.idle();
    const matched: unknown[] = [];
    const webhooks = createWebhooks({ credentials, deployment }).onAny((_, { key }) => {
      matched.push(key.merchant);
    });
    for (const { text } of received) await webhooks.receive(text);
    expect(matched).toEqual(['NGN']);
  });

  it('leave other currencies to the merchant key without a name', async () => {
    const { sandbox, credentials } = await start({ merchants: ['GHS'] });
    expect((await place(sandbox, credentials)).status).toBe(200);
    await sandbox.idle();
    const key = credentials.merchantSecretKey + credentials.partnerSecretKey;
    expect(() => verifyBody(sandbox.deliveries[0]?.body ?? '', { key })).not.toThrow();
  });
});

describe('an order with an id that was used', () => {
  it.each([
    ['refused', 409, 1, 1],
    ['same', 200, 1, 1],
    ['second', 200, 2, 2],
  ] as const)('is %s', async (duplicateOrders, status, orders, events) => {
    const { sandbox, credentials } = await start({ duplicateOrders });
    const first = await reply(place(sandbox, credentials));
    const second = await reply(place(sandbox, credentials, { ...order, fiat_amount: '1' }));
    expect(second.status).toBe(status);
    expect(sandbox.orders).toHaveLength(orders);
    const isSame = second.body.platform_order_ref === first.body.platform_order_ref;
    expect(isSame).toBe(duplicateOrders === 'same');
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(events);
    if (duplicateOrders === 'second') {
      await expect(sandbox.advance('A-1', 'fiat_received')).rejects.toThrow('several orders');
    }
  });
});

describe('events', () => {
  it('can follow in any order', async () => {
    const { sandbox, credentials } = await start({ orderTransitions: 'any' });
    await place(sandbox, credentials);
    await sandbox.advance('A-1', 'credited');
    await sandbox.advance('A-1', 'refunded');
    await expect(sandbox.advance('A-1', 'refunded')).rejects.toThrow(
      'cannot follow "refunded", which is followed by fiat_received, no_kyc,',
    );
    // @ts-expect-error: wrong on purpose
    await expect(sandbox.advance('A-1', 'refund')).rejects.toThrow('followed by fiat_received, no_kyc,');
    // @ts-expect-error: wrong on purpose
    await expect(sandbox.advance('A-1', 'created')).rejects.toThrow('cannot follow');
  });
});

describe('the signing endpoint', () => {
  it.each(schemeParts.construction)('reveals the construction %s to learn', async (construction) => {
    const signature = { construction, serialization: 'as-sent', encoding: 'base64' } as const;
    const { sandbox } = await start({ deployment: { signature } });
    const url = `${sandbox.deployment.onboardingBaseUrl}/api/v1/no-auth/PartnerP2P/SignRequestSha512/`;
    const oracle: SigningOracle = async ({ body, secret }) => {
      const signed = await sandbox.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `${body.slice(0, -1)},"secret":"${secret}"}`,
      });
      return signed.text();
    };
    const { deployment } = await learn({ oracle });
    expect(deployment).toEqual({ signature });
  });

  it('needs a secret', async () => {
    const { fetch, deployment } = createSandbox();
    const url = `${deployment.onboardingBaseUrl}/api/v1/no-auth/PartnerP2P/SignRequestSha512/`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    expect(await refusal(fetch(url, init))).toEqual([400, 'invalid_body']);
  });
});

describe('addressForms', () => {
  const tronOrder = { ...order, buyer_crypto_address: 'TN3W4H6rK2ce4vX9YnFQHwKENnHjoxb3m9' };
  const evmOrder = { ...order, buyer_crypto_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' };

  it.each([
    ['any address without it', undefined, [200, 200]],
    ['the assumed forms alone', {}, [200, 400]],
    ['another form of a chain', { 'usdt-trc20': 'evm' }, [400, 200]],
  ] as const)('takes %s', async (_, addressForms, statuses) => {
    const answers = await Promise.all(
      [tronOrder, evmOrder].map(async (one) => {
        const { sandbox, credentials } = await start({ deployment: { addressForms } });
        return (await place(sandbox, credentials, one)).status;
      }),
    );
    expect(answers).toEqual(statuses);
  });
});
