import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { signingKey } from '../../credentials/signing-key.ts';
import { type Deployment, requireDeployment } from '../../deployment/define-deployment.ts';
import { toWireNames } from '../../deployment/wire-names.ts';
import { ValidationError } from '../../errors/errors.ts';
import { findNonJson, isJsonObject, type JsonObject } from '../../internal/json.ts';
import {
  defineOptions,
  type OptionTable,
  oneOf,
  optional,
  type Settings,
  text,
} from '../../internal/options.ts';
import { defaultScheme } from '../../signature/signature-scheme.ts';
import { parseSignedBody } from '../../signature/signed-body.ts';
import type { EventSpelling } from '../sandbox/settings/sandbox-options.ts';
import { eventText } from '../sandbox/wire/event-text.ts';
import { eventHeaders } from '../sandbox/world/delivery.ts';

/** A signed POST of the service to your callback URL. It holds no key and can be sent repeatedly. */
export interface SignedDelivery {
  /** The exact text to post: writing it again breaks its signature. */
  readonly body: string;
  /** `content-type`, and the public key as the bearer token (contract: Authentication 2). */
  readonly headers: Readonly<Record<string, string>>;
  /** The `partner_callback_url` of the body, or an address at `partner.example` if it has none. */
  readonly url: string;
  /** A new request for any `Request -> Response`. @param url instead of the delivery's own */
  request(url?: string | URL): Request;
}

/** Options of {@link signedDelivery} and {@link refusedDeliveries}. */
export interface DeliveryOptions {
  /** The signing keys: give your receiver the same. */
  credentials: PartnerCredentials;
  /** Its signature scheme and `wireNames` are used. @default the default scheme, and the published names */
  deployment?: Deployment<unknown> | undefined;
  /** The merchant of `merchantSecretKeys` whose key signs. A single merchant needs no name. */
  merchant?: string | undefined;
  /**
   * How the text is spelled. `awkward`: with white space, `\\/`, `\\u00e9`, `15000.50`, and a member `"1"` after the
   * signature, all lost when a body is parsed and written again. `compact`: as `JSON.stringify` writes it.
   * @default 'awkward'
   */
  spelling?: EventSpelling | undefined;
}

/** Deliveries that a receiver must answer with 401. */
export interface RefusedDeliveries {
  /** Signed with the public key. */
  readonly forged: SignedDelivery;
  /** A delivery with a valid signature of another `buyer_crypto_address`. */
  readonly tampered: SignedDelivery;
  /** Without a `signature`. */
  readonly unsigned: SignedDelivery;
  /** Signed with other secrets: another partner's, or your own before a regeneration. */
  readonly wrongKey: SignedDelivery;
}

const deliveryRows = {
  // Sound: `signingKey` checks them.
  credentials: (given) => given as PartnerCredentials,
  // Sound: `requireDeployment` checks it.
  deployment: optional((given) => requireDeployment(given as Deployment<unknown>)),
  merchant: optional(text()),
  spelling: oneOf(['awkward', 'compact'], { default: 'awkward' }),
} satisfies OptionTable<DeliveryOptions>;

const readOptions = defineOptions('signedDelivery', deliveryRows);

/**
 * Signs a body with the key for order events, as a delivery that your receiver has to accept.
 *
 * @param body from {@link eventBody}, or any other JSON object; a `signature` in it is replaced
 * @throws {ValidationError} for a body that is not plain JSON data
 * @throws {ConfigurationError} for options that are malformed or do not exist
 * @example
 * ```ts
 * const delivery = signedDelivery(eventBody('event.buy.init'), { credentials });
 * const response = await webhooks.fetch(delivery.request());
 * const reply = await fastify.inject({ method: 'POST', url: '/orders', headers: delivery.headers, payload: delivery.body });
 * ```
 */
export function signedDelivery(body: object, options: DeliveryOptions): SignedDelivery {
  const { key, text, delivery } = signingOf(body, readOptions(options));
  return delivery(text(key));
}

/**
 * Makes four deliveries of a body that your receiver has to refuse with 401.
 *
 * @throws {ValidationError} for a body that is not plain JSON data
 * @throws {ConfigurationError} for options that are malformed or do not exist
 * @example
 * ```ts
 * const refused = refusedDeliveries(eventBody('event.buy.credited.crypto'), { credentials });
 * for (const delivery of Object.values(refused)) {
 *   assert.equal((await deliver(webhooks, delivery)).status, 401);
 * }
 * ```
 */
export function refusedDeliveries(body: object, options: DeliveryOptions): RefusedDeliveries {
  const { key, publicKey, encoding, text, delivery } = signingOf(body, readOptions(options));
  const anotherAddress = 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2';
  const genuine = parseSignedBody(text(key), encoding);
  const changed = parseSignedBody(text(key, { buyer_crypto_address: anotherAddress }), encoding);
  return {
    forged: delivery(text(publicKey)),
    tampered: delivery(withSignature(changed.json, genuine.value.signature)),
    unsigned: delivery(genuine.json),
    wrongKey: delivery(text(`another-${key}`)),
  };
}

function signingOf(
  body: object,
  { credentials, merchant, deployment, spelling }: Settings<typeof deliveryRows>,
) {
  const scheme = deployment?.signature ?? defaultScheme;
  const key = signingKey(credentials, 'order', { merchant, scheme });
  const { signature: _, ...unsigned } = toJson(body);
  const { partnerPublicKey: publicKey } = credentials;
  return {
    key,
    publicKey,
    encoding: scheme.encoding,
    text: (signedWith: string, changes: JsonObject = {}) =>
      eventText(toWireNames({ ...unsigned, ...changes }, deployment?.wireNames ?? {}), {
        key: signedWith,
        scheme,
        spelling,
      }),
    delivery: (text: string) => makeDelivery(text, { url: callbackUrl(unsigned), publicKey }),
  };
}

function makeDelivery(body: string, { url, publicKey }: { url: string; publicKey: string }): SignedDelivery {
  const headers = Object.freeze(eventHeaders(publicKey));
  return Object.freeze({
    body,
    headers,
    url,
    request: (at: string | URL = url) => new Request(at, { method: 'POST', headers, body }),
  });
}

/** Leaves out members that are `undefined`. */
function toJson(body: unknown): JsonObject {
  const name = 'The body to deliver';
  if (!isJsonObject(body)) throw new ValidationError(name, [{ path: [], message: 'must be an object' }]);
  const issue = findNonJson(body);
  if (issue) throw new ValidationError(name, [issue]);
  // Sound: it is the text of an object.
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}

function callbackUrl({ partner_callback_url: url }: JsonObject): string {
  const isHttp = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isHttp ? url : 'https://partner.example/orders';
}

/** Adds a signature as the last member to an object's text. */
function withSignature(unsignedText: string, signature: unknown): string {
  return `${unsignedText.slice(0, unsignedText.lastIndexOf('}'))},"signature":${JSON.stringify(signature)}}`;
}
