import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { signingKey } from '../credentials/signing-key.ts';
import { type Deployment, requireDeployment } from '../deployment/define-deployment.ts';
import { type Operation, operationRules } from '../deployment/operations.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { toWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import type { RequestError } from '../errors/request-error.ts';
import { ValidationError } from '../errors/validation-error.ts';
import type { CallOptions, CallOptionsWithSchema } from '../http/call.ts';
import { checkInput } from '../http/check-input.ts';
import { type ResolvedClientOptions, resolveClientOptions } from '../http/client-options.ts';
import { sendCall } from '../http/http-client.ts';
import { makeCall } from '../http/make-call.ts';
import type { Reply } from '../http/reply.ts';
import { findNonJson } from '../json/check-json-data.ts';
import type { JsonValue } from '../json/json-value.ts';
import { checkNames } from '../options/check-names.ts';
import { signBody } from '../signature/sign-body.ts';
import { type CredentialSource, credentialSource } from './credential-source.ts';
import { type ExchangeClientOptions, exchangeClientOptionNames } from './exchange-client-options.ts';
import { type PartnerIdentity, partnerIdentity, withPartnerCode } from './partner-identity.ts';
import {
  checkOrder,
  type OrderCallOptions,
  orderCallOptionNames,
  type PreparedOrder,
} from './prepared-order.ts';

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
  readonly #source: CredentialSource | undefined;
  readonly #client: ResolvedClientOptions;

  constructor(options: ExchangeClientOptions<Order>) {
    this.#deployment = requireDeployment(options?.deployment);
    checkNames('ExchangeClient', options, exchangeClientOptionNames);
    this.#source = options.credentials === undefined ? undefined : credentialSource(options.credentials);
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
    const send = (credentials?: PartnerCredentials) => {
      const body = checkInput('onboard', partnerIdentity, withPartnerCode(partner, credentials));
      return this.#post('onboard', { text: JSON.stringify(body), options });
    };
    // A partner who is about to be onboarded has no keys that a ring could load.
    if (this.#source === undefined || partner?.partner_code !== undefined) return await send();
    return await this.#source.send(send);
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
    const text = JSON.stringify(data);
    if (this.#source === undefined) return await this.#post('whitelistIp', { text, options });
    return await this.#source.send((credentials, before) =>
      this.#post('whitelistIp', { text, credentials, before, options }),
    );
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
    return await this.#requireSource('regenerateKeys').send((credentials, before) => {
      const key = this.#signingKey('regenerateKeys', credentials);
      const body = checkInput('regenerateKeys', partnerIdentity, withPartnerCode(partner, credentials));
      const signed = signBody(body, { key, scheme: this.#deployment.signature });
      return this.#post('regenerateKeys', { ...signed, credentials, before, options });
    });
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
   * An order whose outcome is `unknown` is never sent again automatically, and the contract has no look-up:
   * `createOrderJournal` of `./orders` settles it by its events.
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} without credentials, or without a merchant secret
   * @throws {RequestError}
   */
  createOrder(order: Order, options?: OrderCallOptions): Promise<Reply>;
  async createOrder<Body>(order: Order, options: OrderCallOptions<Body> = {}): Promise<Reply<Body>> {
    checkNames('createOrder', options, orderCallOptionNames);
    const { merchant, ...callOptions } = options;
    const prepared = await this.prepareOrder(order, { merchant });
    return await prepared.send(callOptions);
  }

  /**
   * Checks an order, and sends nothing yet: what is wrong with it shows before anything is written down about it.
   * `createOrderJournal` of `./orders` works on this.
   *
   * @throws {ValidationError}
   * @throws {ConfigurationError} without credentials, or without a merchant secret
   */
  async prepareOrder(order: Order, options: Pick<OrderCallOptions, 'merchant'> = {}): Promise<PreparedOrder> {
    checkNames('prepareOrder', options, { merchant: true });
    const { merchant } = options;
    const source = this.#requireSource('createOrder');
    const { payload, partnerId } = await source.send(async (credentials) => {
      // Before the schema: a missing merchant secret is a configuration error, whatever the order.
      this.#signingKey('createOrder', credentials, merchant);
      // Once, should the call be repeated with other keys: a schema may transform.
      const checked = await checkOrder(this.#deployment.orderSchema, order);
      return { payload: checked, partnerId: credentials.partnerId };
    });
    const body = toWireNames(payload, this.#deployment.wireNames);
    return {
      payload,
      partnerId,
      send: (callOptions = {}) =>
        source.send(async (credentials, before) => {
          const key = this.#signingKey('createOrder', credentials, merchant);
          const signed = signBody(body, { key, scheme: this.#deployment.signature });
          const headers =
            credentials.partnerId === undefined ? undefined : { 'x-partner-id': credentials.partnerId };
          const content = { ...signed, headers, credentials, before, options: callOptions };
          return await this.#post('createOrder', content);
        }),
    };
  }

  #requireSource(operation: Operation): CredentialSource {
    if (this.#source !== undefined) return this.#source;
    throw new ConfigurationError(
      'not_configured',
      `${operation} needs credentials: give them to ExchangeClient.`,
    );
  }

  /** The key that signs an operation, according to the table of operations. */
  #signingKey(operation: Operation, credentials: PartnerCredentials, merchant?: string): string {
    const purpose = operationRules(operation).signedWith === 'order' ? 'order' : 'general';
    return signingKey(credentials, purpose, { merchant, scheme: this.#deployment.signature });
  }

  #post<Body>(
    operation: Operation,
    content: {
      readonly text: string;
      readonly signature?: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly credentials?: PartnerCredentials;
      readonly before?: RequestError | undefined;
      readonly options: CallOptions<Body>;
    },
  ): Promise<Reply<Body>> {
    const { text: body, signature = '', headers, credentials, before, options } = content;
    const call = makeCall(this.#deployment, operation, {
      credential: credentials?.partnerPublicKey,
      secrets: [signature, ...(this.#source?.secrets ?? [])],
      ...{ body, headers, before, options },
    });
    return sendCall(call, this.#client);
  }
}
