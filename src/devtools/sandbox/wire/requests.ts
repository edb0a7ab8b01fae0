import { issuePath, type StandardSchema } from '../../../deployment/standard-schema.ts';
import { fromWireNames, type WireNames } from '../../../deployment/wire-names.ts';
import { isPartnerExchangeError, isSignatureError, whatFailed } from '../../../errors/errors.ts';
import { isJsonObject, type JsonObject, tryParse } from '../../../internal/json.ts';
import { readBounded } from '../../../internal/read-bounded.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { decodeBody } from '../../../signature/signed-body.ts';
import { verifyBody } from '../../../signature/verify-body.ts';

/** Where a request goes. A segment of the path in braces is a parameter: `orders/{order}`. */
interface Address {
  readonly method: string;
  readonly path: string;
}

export function routeAt<Route extends Address>(
  routes: readonly Route[],
  { method, path }: Address,
): Route | undefined {
  return routes.find((route) => route.method === method && pathParameters(route.path, path) !== undefined);
}

/** 405 if there are other methods at this path, otherwise 404 with this message. */
export function noRoute(routes: readonly Address[], path: string, message: string): Refusal {
  const allow = routes.filter((route) => pathParameters(route.path, path)).map(({ method }) => method);
  if (allow.length === 0) return new Refusal(404, 'not_found', message);
  const methods = allow.join(', ');
  return new Refusal(405, 'method_not_allowed', `Only ${methods} is answered here.`, { allow: methods });
}

/** The parameters of a path, as they were sent; `undefined` for another path. */
export function pathParameters(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined && segment !== text) return undefined;
    if (name !== undefined) params[name] = text;
  }
  return params;
}

export function requireJsonType(request: Request): void {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The Content-Type must be application/json.');
  }
}

/** Reads a body, and stops as soon as it exceeds the limit. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = new Refusal(413, 'body_too_large', `The body is longer than ${maxBytes} bytes.`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge;
  const bytes = await readBounded(request.body, maxBytes);
  if (bytes === undefined) throw tooLarge;
  return bytes;
}

/** Parses the body of an unsigned request. */
export function parseBody(bytes: Uint8Array): JsonObject {
  const text = refuseSignatureErrors(() => decodeBody(bytes));
  const value = tryParse(text);
  if (value === undefined) throw new Refusal(400, 'body_not_json', 'The body is not JSON.');
  if (!isJsonObject(value)) throw new Refusal(400, 'body_not_object', 'The body is not a JSON object.');
  return value;
}

/** Verifies a signed body, and returns it without its signature. */
export function readSignedBody(
  bytes: Uint8Array,
  key: string | readonly string[],
  scheme: SignatureScheme,
): { body: JsonObject; keyIndex: number } {
  const { value, keyIndex } = refuseSignatureErrors(() => verifyBody(bytes, { key, scheme }));
  const { signature: _, ...body } = value;
  return { body, keyIndex };
}

/** Replaces the deployment's own names by the published ones. */
export function publishedNames(body: JsonObject, names: WireNames): JsonObject {
  for (const [published, own] of Object.entries(names)) {
    if (published === 'connect-msg' || own === published || !Object.hasOwn(body, published)) continue;
    // A deployment with its own name does not know the published one: accepting that would hide a missing mapping.
    throw new Refusal(400, 'wrong_wire_name', `"${published}" is spelled "${own}" at this deployment.`);
  }
  return fromWireNames(body, names);
}

export async function parseWith<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
  code: string,
): Promise<Output> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => {
    const path = issuePath(issue).join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  const part = code === 'invalid_query' ? 'query' : 'body';
  throw new Refusal(400, code, `The ${part} does not fit: ${issues.join('; ')}.`);
}

/** Turns signature errors into refusals. */
export function refuseSignatureErrors<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    throw new Refusal(error.code.startsWith('body_') ? 400 : 401, error.code, whatFailed(error));
  }
}

/** A refused request, answered as `{ error: code, message }`. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers ?? {};
  }
}

/** Never cached, since some replies hold keys. */
export function jsonReply(
  status: number,
  body: JsonObject,
  headers?: Readonly<Record<string, string>>,
): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });
}

/** Every error reply of the sandbox is `{ error, message }`. */
export function errorReply(error: unknown): Response {
  if (error instanceof Refusal) {
    return jsonReply(error.status, { error: error.code, message: error.message }, error.headers);
  }
  // The messages of other errors may hold secrets.
  const message = isPartnerExchangeError(error)
    ? whatFailed(error)
    : `A function given to createSandbox failed${error instanceof Error ? ` with a ${error.name}` : ''}.`;
  return jsonReply(500, { error: 'sandbox_failed', message });
}
