import { signingKey } from '../../../src/credentials/signing-key.ts';
import { type Deployment, operationUrl } from '../../../src/deployment/define-deployment.ts';
import type { Operation } from '../../../src/deployment/operations.ts';
import type { Sandbox } from '../../../src/devtools/sandbox/sandbox.ts';
import type { SandboxCredentials } from '../../../src/devtools/sandbox/settings/fixed-partners.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import { signBody } from '../../../src/signature/sign-body.ts';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Where requests go: the sandbox's own fetch, or a real server. */
export interface Line {
  readonly fetch: Fetch;
  readonly deployment: Deployment<unknown>;
}

export const partner = { partner_code: 'acme', email: 'dev@acme.example' };
export const callbackUrl = 'https://partner.example/events';

export const order = {
  partner_order_id: 'A-1',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: callbackUrl,
  buyer_email: 'buyer@example.com',
  buyer_phone: '+2348000000000',
  first_name: 'Ọlá',
  last_name: 'Ade',
  refund_account: '0123456789',
};

/** Posts a body, as text when it is text, otherwise as JSON. */
export function post(
  line: Line,
  operation: Operation,
  body: JsonObject | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return line.fetch(operationUrl(line.deployment, operation), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** A partner with keys, from an IP that is whitelisted. */
export async function onboarded(
  sandbox: Sandbox<unknown>,
  line: Line = sandbox,
  body: JsonObject = partner,
): Promise<SandboxCredentials> {
  await post(line, 'onboard', body);
  await post(line, 'whitelistIp', 'hello', { 'content-type': 'text/plain' });
  return sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
}

/** Places an order, signed with the given keys. */
export function place(
  line: Line,
  credentials: SandboxCredentials,
  body: JsonObject = order,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { text } = signBody(body, {
    key: signingKey(credentials, 'order'),
    scheme: line.deployment.signature,
  });
  return post(line, 'createOrder', text, { authorization: bearer(credentials), ...headers });
}

/** Asks for new keys, signed with the given ones. */
export function regenerate(
  line: Line,
  credentials: SandboxCredentials,
  body: JsonObject = partner,
): Promise<Response> {
  const { text } = signBody(body, {
    key: signingKey(credentials, 'general'),
    scheme: line.deployment.signature,
  });
  return post(line, 'regenerateKeys', text, { authorization: bearer(credentials) });
}

export function bearer(credentials: SandboxCredentials): string {
  return `Bearer ${credentials.partnerPublicKey}`;
}

export interface Received {
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
}

/** A partner's callback: keeps what it gets and answers with the status. */
export function callback(status = 200): { fetch: Fetch; received: Received[] } {
  const received: Received[] = [];
  return {
    received,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      received.push({ url: request.url, text: await request.text(), headers: request.headers });
      return new Response('ok', { status });
    },
  };
}

/** Status and error code of a refusal. */
export async function refusal(response: Promise<Response>): Promise<[number, unknown]> {
  const { status, body } = await reply(response);
  return [status, body.error];
}

export async function reply(response: Promise<Response>): Promise<{ status: number; body: JsonObject }> {
  const answered = await response;
  // Sound enough for a test: every reply of the sandbox that is read this way is a JSON object.
  return { status: answered.status, body: (await answered.json()) as JsonObject };
}
