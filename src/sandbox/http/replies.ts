import { isPartnerExchangeError } from '../../errors/sdk-error.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { Refusal } from './refusal.ts';

/** A JSON reply that is never cached, since some hold keys. */
export function jsonReply(
  status: number,
  body: JsonObject,
  headers?: Readonly<Record<string, string>>,
): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });
}

/** Every error of the sandbox has the same shape: `{ error, message }`. */
export function errorReply(error: unknown): Response {
  if (error instanceof Refusal) {
    return jsonReply(error.status, { error: error.code, message: error.message }, error.headers);
  }
  // Only the messages of our own errors are certain to hold no secret.
  const message = isPartnerExchangeError(error)
    ? error.message
    : `A function given to createSandbox failed${error instanceof Error ? ` with a ${error.name}` : ''}.`;
  return jsonReply(500, { error: 'sandbox_failed', message });
}
