import * as z from 'zod';
import { fixedKeyRing, isKeyRing, type KeyRing } from '../credentials/key-ring.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { merchantOfOrder, merchantsFor, signingKey } from '../credentials/signing-key.ts';
import { type Deployment, operationUrl, requireDeployment } from '../deployment/define-deployment.ts';
import { type Operation, operationRules } from '../deployment/operations.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { toWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError, type RequestError } from '../errors/errors.ts';
import type { JsonObject } from '../internal/json.ts';
import { defineOptions, type OptionTable, optional } from '../internal/options.ts';
import { signBody } from '../signature/sign-body.ts';
import type { AcceptedOrderReply } from './accepted-order-reply.ts';
import { makeCall } from './call.ts';
import type { CallOptions, ReplyBody, ReplySchema } from './call-options.ts';
import { checkInput } from './check-input.ts';
import { type ClientOptions, type ClientSettings, clientRows, clientSettings } from './client-options.ts';
import {
  checkOrder,
  checkOrderAddress,
  type OrderCallOptions,
  type PreparedOrder,
  readOrderCallOptions,
  readPrepareOptions,
} from './prepared-order.ts';
import type { Reply } from './reply.ts';
import { sendCall } from './send-call.ts';
import { type SigningCredentials, signingCredentials } from './signing-credentials.ts';

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
 *     buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
 *     partner_callback_url: 'https://partner.example/orders',
 *   });
 * } catch (error) {
 *   if (isRequestError(error)) console.error(error.outcome, error.message);
 * }
 * ```
 */
export class ExchangeClient<Order = BuyOrder> {
  readonly #deployment: Deployment<Order>;
  readonly #credentials: SigningCredentials | undefined;
  readonly #client: ClientSettings;

  constructor(options: ExchangeClientOptions<Order>) {
    const { deployment, credentials, ...shared } = readOptions(options ?? {});
    // Sound: the deployment is the one that was given.
    this.#deployment = deployment as Deployment<Order>;
    this.#credentials = credentials && signingCredentials(credentials);
    this.#client = clientSettings(shared);
  }

  /** The deployment that it was made with. */
  get deployment(): Deployment<Order> {
    return this.#deployment;
  }

  /** Milliseconds that a call takes at most: the `leaseMs` of an order journal has to be longer. */
  get totalTimeoutMs(): number {
    return this.#client.totalTimeoutMs;
  }

  /**
   * Checks that orders can be created, and sends nothing: the address of the service, the credentials and each merchant
   * secret. Call it when a server starts, and where it answers for its health.
   *
   * @throws {ConfigurationError} as `createOrder` would
   * @throws {KeyError} `keys_unavailable` when a key ring has none
   */
  async assertReady(): Promise<void> {
    operationUrl(this.#deployment, 'createOrder');
    const { signing: signer } = await this.#requireCredentials('createOrder').current();
    const merchants = merchantsFor(signer, this.#deployment.signature);
    for (const merchant of merchants.length === 0 ? [undefined] : merchants)
      this.#signingKey('createOrder', signer, merchant);
  }

  /**
   * Registers a partner: the keys and the partner ID are e-mailed as a one-time link. Sent without an
   * Authorization header (contract: Endpoints 1).
   *
   * @throws {ValidationError} before anything is sent
   * @throws {RequestError}
   */
  async onboard<Schema extends ReplySchema = undefined>(
    partner: PartnerIdentity & { partner_code: string },
    options: CallOptions<Schema> = {},
  ): Promise<Reply<ReplyBody<Schema>>> {
    const text = JSON.stringify(checkInput('onboard', partnerIdentity, partner));
    return await this.#post('onboard', { text, options });
  }

  /**
   * Has the service whitelist the address that this call comes from (contract: Endpoints 2). Run it on every machine
   * that will call the service. It posts `{}`, since the service does not read the body.
   *
   * @throws {RequestError}
   */
  async whitelistIp<Schema extends ReplySchema = undefined>(
    options: CallOptions<Schema> = {},
  ): Promise<Reply<ReplyBody<Schema>>> {
    const send = (credentials?: PartnerCredentials, previousFailure?: RequestError) =>
      this.#post('whitelistIp', { text: '{}', credentials, previousFailure, options });
    return this.#credentials === undefined ? await send() : await this.#credentials.call(send);
  }

  /**
   * Asks for new keys: a one-time reset link is e-mailed, and the old keys stop working (contract: Endpoints 3).
   * Signed with the partner secret.
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} `not_configured` without credentials
   * @throws {RequestError}
   */
  async regenerateKeys<Schema extends ReplySchema = undefined>(
    partner: PartnerIdentity,
    options: CallOptions<Schema> = {},
  ): Promise<Reply<ReplyBody<Schema>>> {
    return await this.#requireCredentials('regenerateKeys').call((credentials, previousFailure) => {
      const key = this.#signingKey('regenerateKeys', credentials);
      const body = checkInput('regenerateKeys', partnerIdentity, withPartnerCode(partner, credentials));
      const signed = signBody(body, { key, scheme: this.#deployment.signature });
      return this.#post('regenerateKeys', { ...signed, credentials, previousFailure, options });
    });
  }

  /**
   * Creates a buy order. The deployment's `orderSchema` checks the payload; it is sent under the deployment's wire
   * names, signed with merchant + partner secret (contract: Endpoints 4; path and payload are reported).
   * An address that does not have the form of its chain is refused.
   *
   * It resolves only if the reply accepts the order (ledger: `order-reply`).
   * An order whose outcome is `unknown` is never sent again automatically, and the contract has no look-up:
   * `createOrderJournal` of `./orders` settles it by its events.
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} without credentials, or without a merchant secret
   * @throws {RequestError}
   */
  async createOrder<Schema extends ReplySchema = undefined>(
    order: Order,
    options: OrderCallOptions<Schema> = {},
  ): Promise<AcceptedOrderReply<ReplyBody<Schema>>> {
    const { merchant, acceptAddress, ...callOptions } = readOrderCallOptions(options);
    const prepared = await this.prepareOrder(order, { merchant, acceptAddress });
    // Sound: the schema is the one that was given.
    return await prepared.send(callOptions as CallOptions<Schema>);
  }

  /**
   * Checks an order, and sends nothing yet: what is wrong with it shows before anything is written down about it.
   * `createOrderJournal` of `./orders` works on this.
   *
   * @throws {ValidationError} also `address_refused`: crypto for the buyer's address would be lost
   * @throws {ConfigurationError} without the address of the service, credentials or a merchant secret
   */
  async prepareOrder(
    order: Order,
    options: Pick<OrderCallOptions, 'merchant' | 'acceptAddress'> = {},
  ): Promise<PreparedOrder> {
    const { merchant, acceptAddress } = readPrepareOptions(options);
    operationUrl(this.#deployment, 'createOrder');
    const signing = this.#requireCredentials('createOrder');
    const { signing: signer, origin } = await signing.current();
    // Once, should the call be repeated with other keys: a schema may transform.
    const payload = await checkOrder(this.#deployment.orderSchema, order);
    checkOrderAddress(payload, { deployment: this.#deployment, acceptAddress });
    this.#orderKey(signer, payload, merchant);
    const body = toWireNames(payload, this.#deployment.wireNames);
    return {
      payload,
      partnerId: signer.partnerId,
      partnerCode: signer.partnerCode,
      rotation: origin?.rotation,
      send: (callOptions = {}) =>
        signing.call(async (credentials, previousFailure) => {
          const key = this.#orderKey(credentials, payload, merchant);
          const signed = signBody(body, { key, scheme: this.#deployment.signature });
          const content = { ...signed, credentials, previousFailure, options: callOptions };
          return await this.#post('createOrder', content);
        }),
    };
  }

  #requireCredentials(operation: Operation): SigningCredentials {
    if (this.#credentials !== undefined) return this.#credentials;
    const what = `${operation} needs credentials, and ExchangeClient was given none.`;
    const remedy = 'Give it credentials: readEnvironment() returns them where PARTNER_PUBLIC_KEY is set.';
    throw new ConfigurationError('not_configured', what, { remedy });
  }

  #signingKey(operation: Operation, credentials: PartnerCredentials, merchant?: string): string {
    const purpose = operationRules(operation).signedWith === 'order' ? 'order' : 'general';
    return signingKey(credentials, purpose, { merchant, scheme: this.#deployment.signature });
  }

  #orderKey(credentials: PartnerCredentials, payload: JsonObject, merchant: string | undefined): string {
    const scheme = this.#deployment.signature;
    const signer = merchantOfOrder(credentials, payload, { merchant, scheme });
    return this.#signingKey('createOrder', credentials, signer);
  }

  #post<Schema extends ReplySchema>(
    operation: Operation,
    content: {
      readonly text: string;
      readonly signature?: string;
      readonly credentials?: PartnerCredentials | undefined;
      readonly previousFailure?: RequestError | undefined;
      readonly options: CallOptions<Schema>;
    },
  ): Promise<Reply<ReplyBody<Schema>>> {
    const { text: body, signature = '', credentials, previousFailure, options } = content;
    const partnerId = operation === 'createOrder' ? credentials?.partnerId : undefined;
    const call = makeCall(this.#deployment, operation, {
      credential: credentials?.partnerPublicKey,
      secrets: [signature, ...(this.#credentials?.secrets() ?? [])],
      body,
      headers: partnerId === undefined ? {} : { 'x-partner-id': partnerId },
      previousFailure,
      options,
    });
    return sendCall(call, this.#client);
  }
}

/** Options of an {@link ExchangeClient}. */
export interface ExchangeClientOptions<Order = BuyOrder> extends ClientOptions {
  /** The service to call: made with `defineDeployment`. */
  deployment: Deployment<Order>;
  /**
   * Not needed for `onboard` and `whitelistIp`. With a key ring each call takes the keys that sign then. One that the
   * service refuses with 401 or 403 is repeated once if the ring has newer or pending keys: a refusal is safe to repeat.
   */
  credentials?: PartnerCredentials | KeyRing | undefined;
}

const readOptions = defineOptions('ExchangeClient', {
  ...clientRows,
  // Sound: both check anything.
  deployment: (given) => requireDeployment(given as Deployment<unknown>),
  credentials: optional((given) => (isKeyRing(given) ? given : fixedKeyRing(given as PartnerCredentials))),
} satisfies OptionTable<ExchangeClientOptions<unknown>>);

/** The partner to onboard, or to give new keys. */
export interface PartnerIdentity {
  /** Where the one-time link is sent. */
  email: string;
  /**
   * The code that the partner chose at onboarding.
   * @default for new keys the `partnerCode` of the credentials
   */
  partner_code?: string | undefined;
}

/** The schema of {@link PartnerIdentity}. */
export const partnerIdentity = z.looseObject({
  partner_code: z.string().min(1),
  email: z
    .string()
    .max(320)
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'),
});

function withPartnerCode(partner: PartnerIdentity, credentials: PartnerCredentials | undefined): unknown {
  if (partner?.partner_code !== undefined || credentials?.partnerCode === undefined) return partner;
  return { ...partner, partner_code: credentials.partnerCode };
}
