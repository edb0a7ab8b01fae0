import * as z from 'zod';
import { toWireNames } from '../../../deployment/wire-names.ts';
import { jsonReply, parseBody, parseWith, publishedNames, Refusal } from '../wire/requests.ts';
import { requireSameSecret } from '../wire/sandbox-secrets.ts';
import type { SandboxState } from '../world/state.ts';
import type { OperationHandlers, RoutedRequest } from './service.ts';

const text = z.string().min(1);
const generation = z.object({ messenger_device_no: text });
const sending = z.object({
  api_key: text,
  message: text,
  to_phone: text,
  verify_check: z.boolean().optional(),
});

/** Does not repeat the address of the request, which holds the API key. */
const connectedPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Device connected</title>
<h1>Device connected</h1><p>The API key is ready for use. You can close this page.</p></html>
`;

/** Endpoints 6 to 9 of the contract. */
export const messengerHandlers = {
  generateApiKey: { content: 'json', handle: generateApiKey },
  scanDevice: { content: 'none', handle: scanDevice },
  checkNumber: { content: 'none', handle: checkNumber },
  sendMessage: { content: 'json', handle: sendMessage },
} satisfies Partial<OperationHandlers>;

async function generateApiKey(state: SandboxState, { body, request }: RoutedRequest): Promise<Response> {
  const hint = 'The Authorization header must be the master key itself, without "Bearer".';
  const presented = request.headers.get('authorization') ?? '';
  requireSameSecret(presented, state.masterKey, new Refusal(401, 'wrong_master_key', hint));
  const { wireNames } = state.deployment;
  const named = publishedNames(parseBody(body), wireNames);
  const { messenger_device_no } = await parseWith(generation, named, 'invalid_body');
  const api_key = state.messenger.generate(messenger_device_no);
  return jsonReply(200, toWireNames({ api_key, messenger_device_no }, wireNames));
}

function scanDevice(state: SandboxState, { url }: RoutedRequest): Response {
  state.messenger.scan(requireParameter(url, 'api_key'));
  return new Response(connectedPage, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      // The address holds the API key.
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'",
    },
  });
}

function checkNumber(state: SandboxState, { url }: RoutedRequest): Response {
  const apiKey = requireParameter(url, 'api_key');
  const to_phone = requireParameter(url, 'to_phone');
  return jsonReply(200, { to_phone, on_messenger: state.messenger.isOnMessenger(apiKey, to_phone) });
}

async function sendMessage(state: SandboxState, { body }: RoutedRequest): Promise<Response> {
  const message = await parseWith(sending, parseBody(body), 'invalid_body');
  state.messenger.send({ ...message, verify_check: message.verify_check });
  return jsonReply(200, { message: 'The message was sent.' });
}

function requireParameter(url: URL, name: string): string {
  const [value, another] = url.searchParams.getAll(name);
  if (value === undefined || value === '' || another !== undefined) {
    throw new Refusal(400, 'invalid_query', `The query must have one ${name}.`);
  }
  return value;
}
