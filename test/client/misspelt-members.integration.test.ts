import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { startServer } from '../support/local-server.ts';
import { warningsDuring } from '../webhooks/warnings.ts';
import { credentials, exchangeAt, message, messengerAt, order, partner } from './clients.ts';

async function warnedOf(act: (url: string) => Promise<unknown>): Promise<string[]> {
  const server = await startServer({});
  const warnings = await warningsDuring(() => act(server.url));
  return warnings.map((warning) => warning.message);
}

describe('a misspelt member, given from JavaScript', () => {
  it('of an order is sent as given, and warned of once with the name that is meant', async () => {
    const server = await startServer({});
    const misspelt = { ...order, buyer_mail: 'a@b.example' };
    const warnings = await warningsDuring(async () => {
      await exchangeAt(server.url).createOrder(misspelt);
      await exchangeAt(server.url).createOrder(misspelt);
    });
    expect(warnings.map((warning) => warning.message)).toEqual([
      'createOrder does not know the member "buyer_mail": did you mean "buyer_email"?',
    ]);
    expect(JSON.parse(String(server.requests[1]?.body))).toMatchObject({ buyer_mail: 'a@b.example' });
  });

  it.each<[name: string, act: (url: string) => Promise<unknown>, hint: string]>([
    [
      'a message',
      (url) => messengerAt(url).sendMessage(Object.assign({ verifyCheck: true }, message)),
      'sendMessage does not know the member "verifyCheck": did you mean "verify_check"?',
    ],
    [
      'a number check',
      (url) => messengerAt(url).checkNumber(Object.assign({ apikey: 'x' }, { to_phone: message.to_phone })),
      'checkNumber does not know the member "apikey": did you mean "api_key"?',
    ],
    [
      'a device',
      (url) =>
        messengerAt(url).generateApiKey(Object.assign({ device_no: '1' }, { messenger_device_no: '42' })),
      'generateApiKey does not know the member "device_no": did you mean "messenger_device_no"?',
    ],
    [
      'a partner',
      (url) => exchangeAt(url).onboard(Object.assign({ partnerCode: 'acme' }, partner)),
      'onboard does not know the member "partnerCode": did you mean "partner_code"?',
    ],
  ])('of %s is warned of, too', async (_, act, hint) => {
    expect(await warnedOf(act)).toEqual([hint]);
  });

  it('is found by an extended order schema, too', async () => {
    const warnings = await warnedOf((url) => {
      const orderSchema = reportedBuyOrder.extend({ branch_code: z.string() });
      const deployment = defineDeployment({ onboardingBaseUrl: url, orderSchema });
      const client = new ExchangeClient({ deployment, credentials });
      return client.createOrder(Object.assign({ branch_cod: 'x' }, { ...order, branch_code: 'x' }));
    });
    expect(warnings).toEqual([
      'createOrder does not know the member "branch_cod": did you mean "branch_code"?',
    ]);
  });
});

it('a further member that is near no known one is sent without a warning', async () => {
  const further = { ...order, channel: 'bank', fiat_amount_usd: '10', chain_id: 1, note: 'x', x: 1 };
  expect(await warnedOf((url) => exchangeAt(url).createOrder(further))).toEqual([]);
  const typed = { ...message, message_type: 'text', locale: 'en', api_key: 'API-X-1' };
  expect(await warnedOf((url) => messengerAt(url).sendMessage(typed))).toEqual([]);
});
