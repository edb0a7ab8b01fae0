import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkInteger, checkOneOf, invalidOption } from '../options/check-values.ts';

/** The values that an order may have; any where a list is absent. */
export interface AllowedValues {
  /** `<FIAT>/<CRYPTO>` */
  readonly pair?: readonly string[] | undefined;
  readonly chain?: readonly string[] | undefined;
  readonly fiat_currency?: readonly string[] | undefined;
}

/**
 * Points that the contract leaves open, each of which a deployment may have settled in another way. The table in
 * docs/sandbox.md has the ledger's id of each.
 */
export interface ServiceVariants {
  /**
   * Currencies for which each partner gets a merchant key of its own, in `merchantSecretKeys`; `merchantSecretKey`
   * signs orders in all others. @default []: one merchant
   */
  merchants?: readonly string[] | undefined;
  /** What merchant keys begin with (reported: one sample has no prefix). @default 'sk_merchant_' */
  merchantKeyPrefix?: 'sk_merchant_' | '' | undefined;
  /** Milliseconds on the sandbox's clock until a public key is refused. @default undefined: keys do not expire */
  keyLifetimeMs?: number | undefined;
  /**
   * When a regeneration makes the old keys invalid: when it is asked for, or when its link is opened. @default 'link'
   */
  oldKeysDie?: 'request' | 'link' | undefined;
  /** Whether an order needs the header x-partner-id. A wrong one is always refused. @default 'optional' */
  partnerIdHeader?: 'optional' | 'required' | undefined;
  /** Pairs, chains and currencies that an order may have. @default any */
  allowedValues?: AllowedValues | undefined;
  /**
   * What becomes of an order whose `partner_order_id` the partner has used: refused with 409, answered with the order
   * that there is (whatever else it says), or another order. @default 'refused'
   */
  duplicateOrders?: 'refused' | 'same' | 'second' | undefined;
  /** Whether `advance` refuses a step that the sandbox thinks cannot follow. @default 'checked' */
  orderTransitions?: 'checked' | 'any' | undefined;
  /**
   * Replies other than refusals: `plain`, `wrapped` in `{ status: 'success', data }`, `text` (just "OK"), or `empty`.
   * What only a reply reveals, keys and signatures, is plain under the last two. @default 'plain'
   */
  replies?: 'plain' | 'wrapped' | 'text' | 'empty' | undefined;
  /** Whether a refusal has its status, or 200 with the error inside: `{ success: false, error, message }`. @default 'status' */
  errorReplies?: 'status' | 'ok' | undefined;
  /** The status of an order from an IP that is not whitelisted. @default 403 */
  whitelistStatus?: 401 | 403 | undefined;
  /**
   * `checks`: a message to a number that is not on the messenger is refused only with `verify_check: true`, and
   * otherwise accepted and lost. `ignored`: it is always refused. @default 'ignored'
   */
  verifyCheck?: 'ignored' | 'checks' | undefined;
  /** What API keys begin with (reported). @default 'API-X-' */
  apiKeyPrefix?: string | undefined;
  /** `bare`: `event.buy.third_party_error` has only its name and the two order ids. @default 'common' */
  thirdPartyErrorBody?: 'common' | 'bare' | undefined;
  /** `meta_data.status` of the close event. @default 'refunded' (contract) */
  closeStatus?: string | undefined;
  /** Which answers to an event count as received. @default '2xx' */
  callbackReceived?: '2xx' | '200' | 'any' | undefined;
  /** Whether there is the reported endpoint that signs any body with any secret. @default 'on' */
  signingEndpoint?: 'on' | 'off' | undefined;
}

/** The variants with their defaults. Not public. */
export type ResolvedVariants = {
  readonly [Name in Exclude<keyof ServiceVariants, 'keyLifetimeMs'>]-?: Exclude<
    ServiceVariants[Name],
    undefined
  >;
} & { readonly keyLifetimeMs: number | undefined };

export const variantNames: OptionNames<ServiceVariants> = {
  merchants: true,
  merchantKeyPrefix: true,
  keyLifetimeMs: true,
  oldKeysDie: true,
  partnerIdHeader: true,
  allowedValues: true,
  duplicateOrders: true,
  orderTransitions: true,
  replies: true,
  errorReplies: true,
  whitelistStatus: true,
  verifyCheck: true,
  apiKeyPrefix: true,
  thirdPartyErrorBody: true,
  closeStatus: true,
  callbackReceived: true,
  signingEndpoint: true,
};

/** @throws {ConfigurationError} `invalid_option` naming the option */
export function resolveVariants(given: ServiceVariants): ResolvedVariants {
  const word = <const Value extends string>(name: keyof ServiceVariants, ...allowed: [Value, ...Value[]]) =>
    checkOneOf(name, given[name] === undefined ? allowed[0] : given[name], allowed);
  const { whitelistStatus = 403, keyLifetimeMs } = given;
  if (whitelistStatus !== 401 && whitelistStatus !== 403) {
    throw invalidOption('whitelistStatus must be 401 or 403.');
  }
  return Object.freeze({
    merchants: checkTexts('merchants', given.merchants ?? []),
    merchantKeyPrefix: word('merchantKeyPrefix', 'sk_merchant_', ''),
    keyLifetimeMs: keyLifetimeMs === undefined ? undefined : checkInteger('keyLifetimeMs', keyLifetimeMs),
    oldKeysDie: word('oldKeysDie', 'link', 'request'),
    partnerIdHeader: word('partnerIdHeader', 'optional', 'required'),
    allowedValues: checkAllowedValues(given.allowedValues ?? {}),
    duplicateOrders: word('duplicateOrders', 'refused', 'same', 'second'),
    orderTransitions: word('orderTransitions', 'checked', 'any'),
    replies: word('replies', 'plain', 'wrapped', 'text', 'empty'),
    errorReplies: word('errorReplies', 'status', 'ok'),
    whitelistStatus,
    verifyCheck: word('verifyCheck', 'ignored', 'checks'),
    apiKeyPrefix: checkPrefix('apiKeyPrefix', given.apiKeyPrefix ?? 'API-X-'),
    thirdPartyErrorBody: word('thirdPartyErrorBody', 'common', 'bare'),
    closeStatus: checkText('closeStatus', given.closeStatus ?? 'refunded'),
    callbackReceived: word('callbackReceived', '2xx', '200', 'any'),
    signingEndpoint: word('signingEndpoint', 'on', 'off'),
  });
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkTexts(name: string, value: readonly string[]): readonly string[] {
  if (!Array.isArray(value) || value.some((text) => typeof text !== 'string')) {
    throw invalidOption(`${name} must be a list of texts.`);
  }
  return Object.freeze([...value]);
}

function checkAllowedValues(given: AllowedValues): AllowedValues {
  checkNames('allowedValues', given, { pair: true, chain: true, fiat_currency: true });
  for (const [name, list] of Object.entries(given)) {
    if (list !== undefined) checkTexts(`allowedValues.${name}`, list);
  }
  return Object.freeze({ ...given });
}

/** An API key goes into a query and a header-like member: no blanks and nothing that is not printable. */
function checkPrefix(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[!-~]*$/.test(value)) return value;
  throw invalidOption(`${name} must be printable ASCII without blanks.`);
}

function checkText(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalidOption(`${name} must be text that is not empty.`);
}
