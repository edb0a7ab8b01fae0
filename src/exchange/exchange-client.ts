import * as z from 'zod';
import { defineCredentials } from '../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { type SigningPurpose, signingKey } from '../credentials/signing-key.ts';
import { type Deployment, operationUrl, requireDeployment } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import { toWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { ValidationError } from '../errors/validation-error.ts';
import type { CallOptions, CallOptionsWithSchema } from '../http/call.ts';
import { checkInput, checkWithSchema } from '../http/check-input.ts';
import {
  type ClientOptions,
  type ResolvedClientOptions,
  resolveClientOptions,
} from '../http/client-options.ts';
import { sendCall } from '../http/http-client.ts';
import type { Reply } from '../http/reply.ts';
import { requestHeaders } from '../http/request-headers.ts';
import { findNonJson } from '../json/check-json-data.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { signBody } from '../signature/sign-body.ts';

export interface ExchangeClientOptions<Order = BuyOrder> extends ClientOptions {
  deployment: Deployment<Order>;
  /** Not needed for `onboard` and `whitelistIp`. */
  credentials?: PartnerCredentials | undefined;
}

/** Who is onboarded, or gets new keys. */
export interface PartnerIdentity {
  /** Where the one-time link is sent. */
  email: string;
  /** @default `partnerCode` of the credentials */
  partner_code?: string | undefined;
}

export interface OrderCallOptions<Body = unknown> extends CallOptions<Body> {
  /** Which of `merchantSecretKeys` signs; not needed with a single merchant. */
  merchant?: string | undefined;
}

const text = z.string().min(1);
const identity = z.looseObject({
  partner_code: text,
  email: z
    .string()
    .max(320)
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'),
});

/**
 * Onboarding, IP whitelisting, key regeneration and orders of one partner.
 *
 * Secrets are kept out of reach of `console.log`, `JSON.stringify` and spread copies.
 *
 * @throws {ConfigurationError} from the constructor for unsound options
 * @example
 * ```ts
 * const exchange = new ExchangeClient({ deployment, credentials });
 * await exchange.createOrder({
 *   partner_order_id: 'A-1001',
 *   fiat_amount: '15000.50',
 *   fiat_currency: 'NGN',
 *   chain: 'usdt-trc20',
 *   buyer_crypto_address: 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA',
 *   partner_callback_url: 'https://partner.example/orders',
 * });
 * ```
 */
export class ExchangeClient<Order = BuyOrder> {
  readonly #deployment: Deployment<Order>;
  readonly #credentials: PartnerCredentials | undefined;
  readonly #client: ResolvedClientOptions;

  constructor(options: ExchangeClientOptions<Order>) {
    this.#deployment = requireDeployment(options?.deployment);
    this.#credentials =
      options.credentials === undefined ? undefined : defineCredentials(options.credentials);
    this.#client = resolveClientOptions(options);
  }

  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  onboard<Body>(partner: PartnerIdentity, options: CallOptionsWithSchema<Body>): Promise<Reply<Body>>;
  /**
   * Registers a partner: the keys and the partner ID are e-mailed as a one-time link. Sent without an
   * Authorization header (contract: Endpoints 1).
   *
   * @throws {ValidationError} before anything is sent
   * @throws {RequestError}
   */
  onboard(partner: PartnerIdentity, options?: CallOptions): Promise<Reply>;
  async onboard<Body>(partner: PartnerIdentity, options: CallOptions<Body> = {}): Promise<Reply<Body>> {
    const body = checkInput('onboard', identity, withPartnerCode(partner, this.#credentials));
    return await this.#post('onboard', { text: JSON.stringify(body) }, options);
  }

  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  whitelistIp<Body>(data: JsonValue | undefined, options: CallOptionsWithSchema<Body>): Promise<Reply<Body>>;
  /**
   * Has the service whitelist the address this call comes from (contract: Endpoints 2). Run it on every machine
   * that will call the service.
   *
   * @param data any JSON data; the service does not read it. @default {}
   * @throws {ValidationError} before anything is sent
   * @throws {RequestError}
   */
  whitelistIp(data?: JsonValue, options?: CallOptions): Promise<Reply>;
  async whitelistIp<Body>(data: JsonValue = {}, options: CallOptions<Body> = {}): Promise<Reply<Body>> {
    const issue = findNonJson(data);
    if (issue) throw new ValidationError('whitelistIp', [issue]);
    return await this.#post('whitelistIp', { text: JSON.stringify(data) }, options);
  }

  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  regenerateKeys<Body>(partner: PartnerIdentity, options: CallOptionsWithSchema<Body>): Promise<Reply<Body>>;
  /**
   * Asks for new keys: a one-time reset link is e-mailed, and the old keys stop working (contract: Endpoints 3).
   * Signed with the partner secret.
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} `not_configured` without credentials
   * @throws {RequestError}
   */
  regenerateKeys(partner: PartnerIdentity, options?: CallOptions): Promise<Reply>;
  async regenerateKeys<Body>(
    partner: PartnerIdentity,
    options: CallOptions<Body> = {},
  ): Promise<Reply<Body>> {
    const credentials = this.#requireCredentials('regenerateKeys');
    const body = checkInput('regenerateKeys', identity, withPartnerCode(partner, credentials));
    const signed = this.#sign(body, credentials, 'general');
    return await this.#post('regenerateKeys', signed, options);
  }

  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  createOrder<Body>(
    order: Order,
    options: OrderCallOptions<Body> & CallOptionsWithSchema<Body>,
  ): Promise<Reply<Body>>;
  /**
   * Creates a buy order. The payload is checked by the deployment's `orderSchema`, put into the deployment's
   * wire names, and signed with merchant + partner secret (contract: Endpoints 4; path and payload are reported).
   *
   * An order whose outcome is `unknown` is never sent again by itself: look it up by `partner_order_id` first.
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} without credentials, or without a merchant secret
   * @throws {RequestError}
   */
  createOrder(order: Order, options?: OrderCallOptions): Promise<Reply>;
  async createOrder<Body>(order: Order, options: OrderCallOptions<Body> = {}): Promise<Reply<Body>> {
    const credentials = this.#requireCredentials('createOrder');
    const { merchant, ...callOptions } = options;
    // Before the schema: a missing merchant secret is the configuration's fault, whatever the order.
    const key = signingKey(credentials, 'order', { merchant, scheme: this.#deployment.signature });
    const checked = await checkOrder(this.#deployment.orderSchema, order);
    const body = toWireNames(checked, this.#deployment.wireNames);
    const signed = signBody(body, { key, scheme: this.#deployment.signature });
    return await this.#post('createOrder', signed, callOptions);
  }

  #requireCredentials(operation: string): PartnerCredentials {
    if (this.#credentials !== undefined) return this.#credentials;
    throw new ConfigurationError(
      'not_configured',
      `${operation} needs credentials: give them to ExchangeClient.`,
    );
  }

  #sign(body: JsonObject, credentials: PartnerCredentials, purpose: SigningPurpose) {
    return signBody(body, { key: signingKey(credentials, purpose), scheme: this.#deployment.signature });
  }

  #post<Body>(
    operation: 'onboard' | 'whitelistIp' | 'regenerateKeys' | 'createOrder',
    body: { readonly text: string; readonly signature?: string },
    options: CallOptions<Body>,
  ): Promise<Reply<Body>> {
    const credentials = this.#credentials;
    const headers = requestHeaders(this.#deployment, 'json');
    if (operation !== 'onboard' && credentials !== undefined) {
      headers.set('authorization', `Bearer ${credentials.partnerPublicKey}`);
    }
    if (operation === 'createOrder' && credentials?.partnerId !== undefined) {
      headers.set('x-partner-id', credentials.partnerId);
    }
    const call = {
      operation,
      method: 'POST',
      url: operationUrl(this.#deployment, operation),
      headers,
      body: body.text,
      repeat: operation === 'whitelistIp' ? 'always' : 'unless-acted',
      secrets: [body.text, body.signature ?? '', ...secretsOf(credentials)],
      options,
    } as const;
    return sendCall(call, this.#client);
  }
}

function withPartnerCode(partner: PartnerIdentity, credentials: PartnerCredentials | undefined): unknown {
  if (partner?.partner_code !== undefined || credentials?.partnerCode === undefined) return partner;
  return { ...partner, partner_code: credentials.partnerCode };
}

async function checkOrder(schema: StandardSchema, order: unknown): Promise<JsonObject> {
  const checked = await checkWithSchema('createOrder', schema, order);
  if (isJsonObject(checked)) return checked;
  throw new ValidationError('createOrder', [{ path: [], message: 'must be an object' }]);
}

function secretsOf(credentials: PartnerCredentials | undefined): string[] {
  if (credentials === undefined) return [];
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey, merchantSecretKeys } = credentials;
  return [
    partnerPublicKey,
    partnerSecretKey,
    merchantSecretKey ?? '',
    ...Object.values(merchantSecretKeys ?? {}),
  ];
}
