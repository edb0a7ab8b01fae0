import { createServer } from 'node:http';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { MessengerClient } from '../../../src/client/messenger-client.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { ListenOptions, Sandbox, SandboxServer } from '../../../src/devtools/sandbox/sandbox.ts';
import type { SandboxCredentials } from '../../../src/devtools/sandbox/settings/fixed-partners.ts';
import type { SandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { listening } from '../../support/listening.ts';

/** A sandbox at an address, a partner with keys, and its receiver, which verifies what it gets. */
export interface Story extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly server: SandboxServer;
  readonly credentials: SandboxCredentials;
  readonly exchange: ExchangeClient;
  /** Where the partner takes events. */
  readonly callbackUrl: string;
  order(partner_order_id: string, overrides?: object): Promise<unknown>;
  /** Asks the API, with the token. With a body it is a POST by default. */
  api(path: string, body?: object, method?: string): Promise<{ status: number; body: JsonObject }>;
}

export async function startStory(
  options: SandboxOptions = {},
  listenOptions: ListenOptions = {},
): Promise<Story> {
  const sandbox = createSandbox({ seed: 'inspector', ...options });
  const server = await sandbox.listen(listenOptions);
  const { deployment, url, token } = server;
  const stranger = new ExchangeClient({ deployment });
  await stranger.onboard({ partner_code: 'acme', email: 'dev@acme.example' });
  await stranger.whitelistIp();
  const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  const exchange = new ExchangeClient({ deployment, credentials });
  const webhooks = createWebhooks({ credentials, deployment }).onAny(() => {});
  const receiver = createServer(webhooks.node);
  const callbackUrl = `${await listening(receiver)}/orders`;
  return {
    sandbox,
    server,
    credentials,
    exchange,
    callbackUrl,
    order: (partner_order_id, overrides = {}) =>
      exchange.createOrder({
        partner_order_id,
        fiat_amount: '15000.50',
        fiat_currency: 'NGN',
        chain: 'usdt-trc20',
        buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
        partner_callback_url: callbackUrl,
        buyer_email: 'ola@buyer.example',
        first_name: 'Ọlá',
        last_name: 'Adé',
        ...overrides,
      }),
    async api(path, body, method = body === undefined ? 'GET' : 'POST') {
      const authorization = `Bearer ${token}`;
      const response = await fetch(`${url}/_sandbox/${path}`, {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
      });
      // Sound: every answer of the API is an object.
      return { status: response.status, body: (await response.json()) as JsonObject };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
      await sandbox.close();
    },
  };
}

/** Messages on somebody's phone. */
export async function sendMessages(
  { sandbox, server }: Story,
  messages: readonly [string, string][],
): Promise<void> {
  const { deployment } = server;
  const operator = new MessengerClient({ deployment, masterKey: sandbox.masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no: '1001' });
  // Sound: what the sandbox answers with.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  const messenger = new MessengerClient({ deployment, apiKey: api_key });
  for (const [to_phone, message] of messages)
    await messenger.sendMessage({ to_phone, message, verify_check: true });
}
