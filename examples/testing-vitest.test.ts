/** For those who test with vitest and msw: the whole way of an order, against the sandbox. */
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { defineDeployment, ExchangeClient, isRequestError } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { mswHandlers } from 'partner-exchange-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop } from './support/shop.ts';

// Where the shop's requests go in production: it is not told that it is tested.
const deployment = defineDeployment({ onboardingBaseUrl: 'https://exchange.example' });
const sandbox = createSandbox({
  whitelist: 'off',
  // What the service posts goes straight to the shop.
  fetch: (input, init) => shop.webhooks.fetch(new Request(input, init)),
});
const server = setupServer(...mswHandlers(http, sandbox, { deployment }));
let shop: ReturnType<typeof createShop>;

beforeAll(async () => {
  server.listen({ onUnhandledFrame: 'error' });
  await new ExchangeClient({ deployment }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
  shop = createShop({ deployment, credentials: sandbox.openLink(sandbox.emails.at(-1)?.link ?? '') });
});
afterAll(() => server.close());

describe('the shop', () => {
  it('ships what it has bought when it is credited, and not before', async () => {
    await shop.buy('A-1', '15000.50');
    await sandbox.advance('A-1', 'fiat_received');
    expect(shop.shipped).toEqual([]);
    expect(await sandbox.advance('A-1', 'credited')).toMatchObject({ acknowledged: true });
    expect(shop.shipped).toEqual(['A-1']);
  });

  it('asks for KYC where it is missing', async () => {
    await shop.buy('A-2', '20000');
    await sandbox.advance('A-2', 'no_kyc');
    expect(shop.held.get('A-2')).toMatch(/^https:/);
  });

  it('does not know of a second order with one id whether the service has it', async () => {
    const error = await shop.buy('A-1', '15000.50').catch((caught: unknown) => caught);
    expect(isRequestError(error) && error.outcome).toBe('unknown');
  });
});
