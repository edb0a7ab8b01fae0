import type { CallOptions } from '../../src/client/call-options.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient, type MessengerClientOptions } from '../../src/client/messenger-client.ts';
import type { Reply } from '../../src/client/reply.ts';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { StandardSchema } from '../../src/deployment/standard-schema.ts';
import { isRequestError, type RequestError } from '../../src/errors/errors.ts';
import { rejected } from '../support/refusal.ts';

export const credentials = {
  partnerPublicKey: 'pk_partner_4f1d20',
  partnerSecretKey: 'sk_partner_9c2e71',
  merchantSecretKey: 'sk_merchant_7b3a55',
} as const;

export const apiKey = 'API-X-51e0c2';
export const masterKey = 'master-83d1f6';

export const order = {
  partner_order_id: 'A-1001',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
} as const;

export const partner = { partner_code: 'acme', email: 'ops@acme.example' } as const;
export const message = { to_phone: '+2348012345678', message: 'Your code is 493021' } as const;

/** A deployment with all of its services at one address. */
export function deploymentAt(url: string, options: Partial<DeploymentOptions> = {}) {
  return defineDeployment({
    onboardingBaseUrl: url,
    stagingUrl: url,
    messengerBaseUrl: url,
    paths: { checkNumber: '/numbers/check' },
    ...options,
  });
}

/** Repeats without waiting; a test that is about time sets its own. */
const quick: ClientOptions = { maxAttempts: 3, retry: { firstDelayMs: 0 } };

export function exchangeAt(url: string, options: ClientOptions = {}): ExchangeClient {
  return new ExchangeClient({ deployment: deploymentAt(url), credentials, ...quick, ...options });
}

export function messengerAt(url: string, options: Partial<MessengerClientOptions> = {}): MessengerClient {
  return new MessengerClient({ deployment: deploymentAt(url), apiKey, masterKey, ...quick, ...options });
}

/** An operation with valid input, at an address. */
export type Run = (url: string, options?: ClientOptions, call?: CallOptions) => Promise<Reply>;

export const createOrder: Run = (url, options, call) => exchangeAt(url, options).createOrder(order, call);
export const whitelistIp: Run = (url, options, call) => exchangeAt(url, options).whitelistIp(call);
export const sendMessage: Run = (url, options, call) => messengerAt(url, options).sendMessage(message, call);
export const checkNumber: Run = (url, options, call) =>
  messengerAt(url, options).checkNumber({ to_phone: message.to_phone }, call);

/** What may only be repeated when the service has certainly not acted. */
export const cautious: [name: string, run: Run][] = [
  ['onboard', (url, options, call) => exchangeAt(url, options).onboard(partner, call)],
  ['regenerateKeys', (url, options, call) => exchangeAt(url, options).regenerateKeys(partner, call)],
  ['createOrder', createOrder],
  [
    'generateApiKey',
    (url, options, call) => messengerAt(url, options).generateApiKey({ messenger_device_no: '42' }, call),
  ],
  ['sendMessage', sendMessage],
];

/** What can be repeated without harm. */
export const harmless: [name: string, run: Run][] = [
  ['whitelistIp', whitelistIp],
  ['checkNumber', checkNumber],
];

/** The error a call ends with; fails when it succeeds or throws anything else. */
export async function requestError(call: Promise<unknown>): Promise<RequestError> {
  const error = await rejected(call);
  if (isRequestError(error)) return error;
  throw error;
}

/** What a failed call tells its caller, without what it does not say. */
export async function told(call: Promise<unknown>): Promise<Record<string, unknown>> {
  const { code, outcome, status, body, retryAfterMs, attempts } = await requestError(call);
  const all = { code, outcome, status, body, retryAfterMs, attempts };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A Standard Schema made by hand. */
export function schemaOf<Input, Output>(
  validate: StandardSchema<Input, Output>['~standard']['validate'],
): StandardSchema<Input, Output> {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}
