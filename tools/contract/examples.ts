import { signingKey } from '../../src/credentials/signing-key.ts';
import { type Operation, operationNames, operationRules } from '../../src/deployment/operations.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { furtherRequests, sampleBodies, sampleRequests } from './samples.ts';

/** One event or request as it goes over the wire. */
export interface ContractExample {
  readonly name: string;
  /** The file of its schema; `null` for an event that the contract does not describe. */
  readonly schema: string | null;
  /** Its exact text: the body, or of a GET the query. */
  readonly text: string;
  /** The test keys that made it: those of `vectors/signatures.json`. */
  readonly keys: Readonly<Record<string, string>>;
}

const credentials = {
  partnerPublicKey: 'pk_partner_vectorA1',
  partnerSecretKey: 'sk_partner_vectorP1',
  merchantSecretKey: 'sk_merchant_vectorM1',
};

/** An example of each event and each request, with variants. */
export function contractExamples(eventNames: readonly string[]): ContractExample[] {
  const events = Object.entries(sampleBodies).map(([name, body]) => {
    const { event_name: event } = body;
    const schema = eventNames.includes(event) ? `schemas/${event}.json` : null;
    // Sound: they are plain JSON data.
    return signedExample({ name, schema, body: body as unknown as JsonObject, purpose: 'order' });
  });
  const requests = operationNames.map((name) => requestExample(name, name, sampleRequests[name]));
  const further = Object.entries(furtherRequests).map(([name, { operation, body }]) =>
    requestExample(name, operation, body),
  );
  return [...events, ...requests, ...further];
}

function requestExample(name: string, operation: Operation, content: JsonValue): ContractExample {
  const { method, signedWith, authorization } = operationRules(operation);
  const schema = `schemas/${operation}.json`;
  // Sound: signed requests and queries are objects; those of queries hold text only.
  const body = content as JsonObject;
  if (signedWith !== 'nothing') return signedExample({ name, schema, body, purpose: signedWith });
  const text =
    method === 'GET' ? String(new URLSearchParams(body as Record<string, string>)) : JSON.stringify(body);
  return { name, schema, text, keys: keysOf(authorization, body) };
}

function keysOf(authorization: string, { api_key }: JsonObject): Record<string, string> {
  if (authorization === 'public-key') return { partnerPublicKey: credentials.partnerPublicKey };
  if (authorization === 'master-key') return { masterKey: 'master-key-for-tests' };
  return authorization === 'none' ? {} : { apiKey: String(api_key) };
}

function signedExample(unsigned: {
  readonly name: string;
  readonly schema: string | null;
  readonly body: JsonObject;
  readonly purpose: 'general' | 'order';
}): ContractExample {
  const { name, schema, body, purpose } = unsigned;
  const { text } = signBody(body, { key: signingKey(credentials, purpose) });
  const { merchantSecretKey: _, ...general } = credentials;
  return { name, schema, text, keys: { purpose, ...(purpose === 'order' ? credentials : general) } };
}
