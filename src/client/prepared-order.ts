import { addressReasons } from '../deployment/addresses/address-reasons.ts';
import { type AddressCheck, because, checkOnChain } from '../deployment/addresses/check-address.ts';
import { isExampleAddress } from '../deployment/addresses/example-addresses.ts';
import { isHexadecimalKey, isSecret } from '../deployment/addresses/secret.ts';
import { canBeRealHost } from '../deployment/base-url.ts';
import type { Deployment } from '../deployment/define-deployment.ts';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import { ValidationError } from '../errors/errors.ts';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { defineOptions, type OptionTable, optional, text } from '../internal/options.ts';
import { quotedName } from '../internal/printable-text.ts';
import { warnOnce } from '../internal/warn.ts';
import type { AcceptedOrderReply } from './accepted-order-reply.ts';
import { type CallOptions, callRows, type ReplyBody, type ReplySchema } from './call-options.ts';
import { checkWithSchema } from './check-input.ts';

/** Options of a call that creates an order. */
export interface OrderCallOptions<Schema extends ReplySchema = ReplySchema> extends CallOptions<Schema> {
  /**
   * Which of `merchantSecretKeys` signs. @default the only merchant, or the one that is named like the order's
   * `fiat_currency`; refused if that leaves a choice
   */
  merchant?: string | undefined;
  /**
   * Why the address of this order is right although `checkAddress` refuses it. It then passes, unless it looks like a
   * secret. A journal keeps the reason, up to 1,000 characters, so write nothing personal.
   */
  acceptAddress?: string | undefined;
}

/** An order that was checked, but not sent: see `prepareOrder` of `ExchangeClient`. */
export interface PreparedOrder {
  /** The order as the deployment's `orderSchema` made it, under the published names. */
  readonly payload: JsonObject;
  /** The `partnerId` of the credentials at the time of the check. */
  readonly partnerId: string | undefined;
  /** The `partnerCode` of those credentials. */
  readonly partnerCode?: string | undefined;
  /** Identifies the rotation of the same, if they come from one. */
  readonly rotation?: string | undefined;
  /** Sends it, as `createOrder` does; each call is a request of its own. @throws {RequestError} */
  send<Schema extends ReplySchema = undefined>(
    options?: CallOptions<Schema>,
  ): Promise<AcceptedOrderReply<ReplyBody<Schema>>>;
}

const prepareRows = { merchant: optional(text()), acceptAddress: optional(text()) };

export const readPrepareOptions = defineOptions('prepareOrder', prepareRows);
export const readOrderCallOptions = defineOptions('createOrder', {
  ...callRows,
  ...prepareRows,
} satisfies OptionTable<OrderCallOptions>);

/** The payload of an order, as its schema makes it. @throws {ValidationError} */
export async function checkOrder(schema: StandardSchema, order: unknown): Promise<JsonObject> {
  const checked = await checkWithSchema('createOrder', schema, order);
  if (isJsonObject(checked)) return checked;
  throw new ValidationError('createOrder', [{ path: [], message: 'must be an object' }]);
}

/**
 * Refuses an order whose crypto would be lost. An order without these members is one of a schema of the user's own.
 *
 * @throws {ValidationError} `address_refused`, without the address
 */
export function checkOrderAddress(
  { chain, buyer_crypto_address: address }: JsonObject,
  { deployment, acceptAddress }: { deployment: Deployment<unknown>; acceptAddress: string | undefined },
): void {
  if (typeof address !== 'string') return;
  const { verdict, reason = 'form', looksLike } = checkForService(address, chain, deployment);
  if (reason === 'unknown_chain') warnOnce(unknownChain(chain));
  if (verdict !== 'refused' || (acceptAddress !== undefined && reason !== 'secret')) return;
  const { words } = addressReasons[reason];
  const message = looksLike === undefined ? words : `${words}: its form is ${looksLike.join(' or ')}`;
  throw new ValidationError('createOrder', [{ path: ['buyer_crypto_address'], message }], {
    code: 'address_refused',
    ...(reason === 'secret' && {
      remedy: 'Nothing was sent: take it for known to others, and ask for an address.',
    }),
    assumptions: ['address-form'],
  });
}

function checkForService(address: string, chain: unknown, deployment: Deployment<unknown>): AddressCheck {
  const { addressForms: forms, onboardingBaseUrl } = deployment;
  const isReal = onboardingBaseUrl !== undefined && canBeRealHost(new URL(onboardingBaseUrl).hostname);
  if (isReal && isExampleAddress(address)) return because('example');
  if (forms === false && isHexadecimalKey(address)) return { verdict: 'unchecked' };
  if (forms !== false && typeof chain === 'string' && chain !== '')
    return checkOnChain(address, { chain, forms });
  return isSecret(address) ? because('secret') : { verdict: 'unchecked' };
}

function unknownChain(chain: unknown): string {
  // A name of this length holds no key and no mnemonic, if the two were mixed up.
  const name = typeof chain === 'string' && chain.length <= 32 ? quotedName(chain) : 'with a long name';
  return `Orders on the chain ${name} go out with unchecked addresses, since no form of its network is known. Name it in addressForms of defineDeployment.`;
}
