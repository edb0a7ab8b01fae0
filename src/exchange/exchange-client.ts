import * as z from 'zod';
import { defineCredentials } from '../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { signingKey } from '../credentials/signing-key.ts';
import { type Deployment, requireDeployment } from '../deployment/define-deployment.ts';
import { type Operation, operationRules } from '../deployment/operations.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import { toWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { ValidationError } from '../errors/validation-error.ts';
import { type CallOptions, type CallOptionsWithSchema, callOptionNames } from '../http/call.ts';
import { checkInput, checkWithSchema } from '../http/check-input.ts';
import {
  type ClientOptions,
  clientOptionNames,
  type ResolvedClientOptions,
  resolveClientOptions,
} from '../http/client-options.ts';
import { sendCall } from '../http/http-client.ts';
import { makeCall } from '../http/make-call.ts';
import type { Reply } from '../http/reply.ts';
import { findNonJson } from '../json/check-json-data.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { signBody } from '../signature/sign-body.ts';

export interface ExchangeClientOptions<Order = BuyOrder> extends ClientOptions {
  deployment: Deployment<Order>;
  /** Not needed for `onboard` and `whitelistIp`. */
  credentials?: PartnerCredentials | undefined;
}

/** The partner to onboard, or to give new keys. */
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

const optionNames: OptionNames<ExchangeClientOptions> = {
  ...clientOptionNames,
  deployment: true,
  credentials: true,
};
const orderCallOptionNames: OptionNames<OrderCallOptions> = { ...callOptionNames, merchant: true };

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
 * `console.log`, `JSON.stringify` and spread copies do not show its secrets.
 *
 * @throws {ConfigurationError} from the constructor for unsound options
 * @example
 * ```ts
 * const exchange = new ExchangeClient({ deployment, credentials });
 * try {
 *   await exchange.createOrder({
 *     partner_order_id: 'A-1001',
 *     fiat_amount: '15000.50',
 *     fiat_currency: 'NGN',
 *     chain: 'usdt-trc20',
 *     buyer_crypto_address: 'TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA',
 *     partner_callback_url: 'https://partner.example/orders',
 *   });
 * } catch (error) {
 *   if (isRequestError(error)) console.error(error.message, error.outcome, error.body);
 * }
 * ```
 */
export class ExchangeClient<Order = BuyOrder> {
  readonly #deployment: Deployment<Order>;
  readonly #credentials: PartnerCredentials | undefined;
  readonly #client: ResolvedClientOptions;

  constructor(options: ExchangeClientOptions<Order>) {
    this.#deployment = requireDeployment(options?.deployment);
    checkNames('ExchangeClient', options, optionNames);
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
    return await this.#post('onboard', { text: JSON.stringify(body), options });
  }

  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  whitelistIp<Body>(data: JsonValue | undefined, options: CallOptionsWithSchema<Body>): Promise<Reply<Body>>;
  /**
   * Has the service whitelist the address that this call comes from (contract: Endpoints 2). Run it on every machine
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
    return await this.#post('whitelistIp', { text: JSON.stringify(data), options });
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
    const key = this.#signingKey('regenerateKeys');
    const body = checkInput('regenerateKeys', identity, withPartnerCode(partner, this.#credentials));
    const signed = signBody(body, { key, scheme: this.#deployment.signature });
    return await this.#post('regenerateKeys', { ...signed, options });
  }

  /** With a `schema`, which checks and types the reply's body; otherwise as without one. */
  createOrder<Body>(
    order: Order,
    options: OrderCallOptions<Body> & CallOptionsWithSchema<Body>,
  ): Promise<Reply<Body>>;
  /**
   * Creates a buy order. The deployment's `orderSchema` checks the payload; it is sent under the deployment's wire
   * names, signed with merchant + partner secret (contract: Endpoints 4; path and payload are reported).
   *
   * An order whose outcome is `unknown` is never sent again automatically: look it up by `partner_order_id` first.
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} without credentials, or without a merchant secret
   * @throws {RequestError}
   */
  createOrder(order: Order, options?: OrderCallOptions): Promise<Reply>;
  async createOrder<Body>(order: Order, options: OrderCallOptions<Body> = {}): Promise<Reply<Body>> {
    checkNames('createOrder', options, orderCallOptionNames);
    const { merchant, ...callOptions } = options;
    // Before the schema: a missing merchant secret is a configuration error, whatever the order.
    const key = this.#signingKey('createOrder', merchant);
    const checked = await checkOrder(this.#deployment.orderSchema, order);
    const body = toWireNames(checked, this.#deployment.wireNames);
    const signed = signBody(body, { key, scheme: this.#deployment.signature });
    const partnerId = this.#credentials?.partnerId;
    const headers = partnerId === undefined ? undefined : { 'x-partner-id': partnerId };
    return await this.#post('createOrder', { ...signed, headers, options: callOptions });
  }

  /** The key that signs an operation, according to the table of operations. */
  #signingKey(operation: Operation, merchant?: string): string {
    if (this.#credentials === undefined) {
      throw new ConfigurationError(
        'not_configured',
        `${operation} needs credentials: give them to ExchangeClient.`,
      );
    }
    const purpose = operationRules(operation).signedWith === 'order' ? 'order' : 'general';
    return signingKey(this.#credentials, purpose, { merchant, scheme: this.#deployment.signature });
  }

  #post<Body>(
    operation: Operation,
    content: {
      readonly text: string;
      readonly signature?: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly options: CallOptions<Body>;
    },
  ): Promise<Reply<Body>> {
    const { text: body, signature = '', headers, options } = content;
    const credential = this.#credentials?.partnerPublicKey;
    const secrets = [signature, ...secretsOf(this.#credentials)];
    const call = makeCall(this.#deployment, operation, { credential, body, headers, secrets, options });
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
