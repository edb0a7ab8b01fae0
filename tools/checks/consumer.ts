/** Copied into a project that has the package installed, and compiled there: what a user's program looks like. */
import { defineDeployment, ExchangeClient, isRequestError } from 'partner-exchange-sdk';
import { learn } from 'partner-exchange-sdk/diagnostics';
import { parseOrderEvent } from 'partner-exchange-sdk/events';
import { memoryInbox } from 'partner-exchange-sdk/inbox';
import { createKeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createOrderJournal } from 'partner-exchange-sdk/orders';
import { createOtp } from 'partner-exchange-sdk/otp';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { verifyBody } from 'partner-exchange-sdk/signature';
import { memoryStore } from 'partner-exchange-sdk/store';
import { eventBody, signedDelivery } from 'partner-exchange-sdk/testing';
import { createWebhooks, fastifyPlugin, lambdaHandler } from 'partner-exchange-sdk/webhooks';

const credentials = {
  partnerPublicKey: 'pk_partner_1',
  partnerSecretKey: 'sk_partner_1',
  merchantSecretKey: 'sk_merchant_1',
};

export const client: ExchangeClient = new ExchangeClient({
  deployment: defineDeployment({
    onboardingBaseUrl: 'https://exchange.example',
    stagingUrl: 'https://staging.example',
    messengerBaseUrl: 'https://messenger.example',
  }),
  credentials,
});

export const handle: (request: Request) => Promise<Response> = createWebhooks({ credentials }).fetch;

export function hashOf(body: Uint8Array, key: string): string {
  const parsed = parseOrderEvent(verifyBody(body, { key }).value);
  if (parsed.kind !== 'known' || parsed.event.event_name !== 'event.buy.credited.crypto') return '';
  // @ts-expect-error a hash is text: were it `any`, this would compile
  parsed.event.crypto_txn_hash satisfies number;
  return parsed.event.crypto_txn_hash;
}

// Exported without a type of their own, as most programs do: their declarations have to name our types.
export const webhooks = createWebhooks({ credentials }).onAny((event, { body }) => ({ event, body }));
export const { fetch, node } = webhooks;
export const lambda = lambdaHandler(webhooks);
export const fastify = fastifyPlugin(webhooks, { path: '/orders' });
export const receive = (body: string) => webhooks.receive(body);
export const inbox = memoryInbox();
export const deadLetters = () => inbox.deadLetters();
export const store = memoryStore();
export const listed = () => store.list({ prefix: '', limit: 10 });
export const journal = createOrderJournal({ exchange: client, store });
export const unsettled = () => journal.unsettled();
export const rotation = createKeyRotation({ exchange: client, storage: storedKeys({ store }) });
export const keyStatus = () => rotation.status();
export const sandbox = createSandbox();
export const faults = sandbox.faults;
export const otp = (messenger: Parameters<typeof createOtp>[0]['messenger']) =>
  createOtp({ messenger, store, secrets: [], allowedPrefixes: 'any' });
export const learnt = () => learn({});
export const delivery = signedDelivery(eventBody('event.buy.credited.crypto'), { credentials });
export const refusal = (error: unknown) => (isRequestError(error) ? error : undefined);
