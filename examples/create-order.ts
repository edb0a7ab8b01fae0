/** For the partner developer: onboard, whitelist this machine, create an order, and tell failures apart. */
import { ExchangeClient, isRequestError, isValidationError } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';

// In production: defineDeployment({ onboardingBaseUrl: …, stagingUrl: …, messengerBaseUrl: … }).
const sandbox = createSandbox({ fetch: async () => new Response() }); // its events go nowhere here
const { deployment, close } = await sandbox.listen();

// Once: the keys come by a one-time link, and each machine that calls is whitelisted.
await new ExchangeClient({ deployment }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
const link = sandbox.emails.at(-1)?.link ?? '';
const credentials = sandbox.openLink(link);

const exchange = new ExchangeClient({ deployment, credentials });
await exchange.whitelistIp();

// Each time.
const order = {
  partner_order_id: 'A-1001',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
};
const reply = await exchange.createOrder(order);
console.log('created', reply.status, reply.body);

// A mistake in the input never leaves the machine.
await exchange.createOrder({ ...order, fiat_amount: '-1' }).catch((error: unknown) => {
  if (!isValidationError(error)) throw error;
  console.log('not valid:', error.message);
});

// A refusal says so; an unknown outcome would say that the service may have acted.
await exchange.createOrder(order).catch((error: unknown) => {
  if (!isRequestError(error)) throw error;
  // The message quotes the reason of the service, without keys and personal data.
  console.log(`${error.outcome}:`, error.status, error.code, error.message);
});

await close();
