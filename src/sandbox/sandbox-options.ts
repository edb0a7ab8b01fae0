import { checkSecretText } from '../credentials/check-key.ts';
import type { DeploymentOptions } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { settledCryptoStatuses, thirdPartyKycErrors } from '../events/spellings.ts';
import type { SettledCryptoStatus, ThirdPartyKycError } from '../events/status.ts';
import type { JsonObject } from '../json/json-value.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import {
  checkFunction,
  checkInteger,
  checkOneOf,
  checkTimerMs,
  invalidOption,
} from '../options/check-values.ts';
import { withDefaults } from '../options/with-defaults.ts';
import type { EventSpelling } from './callbacks/event-text.ts';
import { type Decimal, exactNumber, parseDecimal } from './orders/decimal.ts';
import { type RandomBytes, randomToken } from './secrets.ts';

/** The options of `defineDeployment` that describe how this deployment differs. */
type DeploymentPart<Order> = Pick<
  DeploymentOptions<Order>,
  'paths' | 'wireNames' | 'signature' | 'orderSchema' | 'numberCheckParameters'
>;

export interface SandboxOptions<Order = BuyOrder> extends DeploymentPart<Order> {
  /** Posts the events to the partners' callback URLs. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
  /** Source of keys, links and references. @default crypto.getRandomValues */
  random?: RandomBytes | undefined;
  /** Whether orders are refused from an IP that was not whitelisted. @default 'enforced' */
  whitelist?: 'enforced' | 'off' | undefined;
  /** Longest request body, in bytes. @default 1048576 (1 MiB; the sandbox's choice) */
  maxBodyBytes?: number | undefined;
  /** How long a partner may take to answer an event, in milliseconds. @default 10000 (the sandbox's choice) */
  callbackTimeoutMs?: number | undefined;
  /**
   * How the text of the events is spelled. `awkward`: with white space, `\\/`, `\\u00e9`, `10.0`, and an integer-like
   * name after the signature: a receiver that verifies anything but the raw body fails, as it would in production.
   * `compact`: as `JSON.stringify` writes them. @default 'awkward' (the sandbox's choice)
   */
  eventSpelling?: EventSpelling | undefined;
  /** The messenger's master key. @default a random one, see `sandbox.masterKey` */
  masterKey?: string | undefined;
  /**
   * Fiat units for one crypto unit, as decimal text, for every pair or by pair (`NGN/USDT`).
   * @default '1500' (the sandbox's choice)
   */
  exchangeRate?: string | ((pair: string) => string) | undefined;
  /** Deducted from each refund, as decimal text in fiat units. @default '0' (the sandbox's choice) */
  refundFee?: string | undefined;
  /**
   * Fiat currencies paid by mobile money: their orders have a payment link, and a phone number to pay into.
   * @default ['GHS', 'KES', 'KHS'] (reported as currencies; that they are mobile money is the sandbox's choice)
   */
  mobileMoneyCurrencies?: readonly string[] | undefined;
  /** Phone numbers, in any notation, that are not on the messenger. @default [] */
  numbersNotOnMessenger?: readonly string[] | undefined;
  /** Spelling of the status of a credited order. @default 'PAID' (contract: the event for crediting) */
  settledCryptoStatus?: SettledCryptoStatus | undefined;
  /** Spelling of the third-party KYC error. @default 'THIRD_PARTY_PAYMENT' (contract: the sample body) */
  thirdPartyKycError?: ThirdPartyKycError | undefined;
  /**
   * For an `orderSchema` with another payload: returns the order with the members that the events need:
   * `partner_order_id`, `fiat_amount` (decimal text), `fiat_currency`, `chain`, `buyer_crypto_address`,
   * `partner_callback_url`, and if there are any `buyer_email`, `buyer_phone`, `first_name`, `last_name` and
   * `refund_account`. @default the payload itself, which has them if it is the reported one
   */
  readOrder?: ((payload: JsonObject) => JsonObject) | undefined;
}

/** The options with their defaults. Not public. */
export interface ResolvedSandboxOptions {
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly whitelist: 'enforced' | 'off';
  readonly maxBodyBytes: number;
  readonly callbackTimeoutMs: number;
  readonly eventSpelling: EventSpelling;
  readonly masterKey: string;
  readonly exchangeRate: (pair: string) => { readonly text: string; readonly decimal: Decimal };
  readonly refundFee: Decimal;
  readonly mobileMoneyCurrencies: readonly string[];
  readonly numbersNotOnMessenger: readonly string[];
  readonly settledCryptoStatus: SettledCryptoStatus;
  readonly thirdPartyKycError: ThirdPartyKycError;
  readonly readOrder: (payload: JsonObject) => JsonObject;
}

const defaults = Object.freeze({
  // Looked up at each call, so that a fetch that is replaced later is used.
  fetch: (input: string | URL | Request, init?: RequestInit) => globalThis.fetch(input, init),
  now: () => Date.now(),
  random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
  whitelist: 'enforced',
  maxBodyBytes: 1024 * 1024,
  callbackTimeoutMs: 10_000,
  eventSpelling: 'awkward',
  exchangeRate: '1500',
  refundFee: '0',
  mobileMoneyCurrencies: ['GHS', 'KES', 'KHS'],
  numbersNotOnMessenger: [],
  settledCryptoStatus: 'PAID',
  thirdPartyKycError: 'THIRD_PARTY_PAYMENT',
  readOrder: (payload: JsonObject) => payload,
} satisfies Required<Omit<SandboxOptions, keyof DeploymentPart<unknown> | 'masterKey'>>);

const optionNames: OptionNames<SandboxOptions> = {
  // `defineDeployment` checks these.
  paths: true,
  wireNames: true,
  signature: true,
  orderSchema: true,
  numberCheckParameters: true,
  fetch: true,
  now: true,
  random: true,
  whitelist: true,
  maxBodyBytes: true,
  callbackTimeoutMs: true,
  eventSpelling: true,
  masterKey: true,
  exchangeRate: true,
  refundFee: true,
  mobileMoneyCurrencies: true,
  numbersNotOnMessenger: true,
  settledCryptoStatus: true,
  thirdPartyKycError: true,
  readOrder: true,
};

/** @throws {ConfigurationError} `invalid_option` naming the option; `invalid_credentials` for a bad master key */
export function resolveSandboxOptions(given: SandboxOptions<unknown>): ResolvedSandboxOptions {
  checkNames('createSandbox', given, optionNames);
  const options = withDefaults(given, defaults);
  const random = checkFunction('random', options.random);
  const rate = options.exchangeRate;
  if (typeof rate !== 'function') checkRate(rate);
  return Object.freeze({
    fetch: checkFunction('fetch', options.fetch),
    now: checkFunction('now', options.now),
    random,
    whitelist: checkOneOf('whitelist', options.whitelist, ['enforced', 'off']),
    maxBodyBytes: checkInteger('maxBodyBytes', options.maxBodyBytes),
    callbackTimeoutMs: checkTimerMs('callbackTimeoutMs', options.callbackTimeoutMs),
    eventSpelling: checkOneOf('eventSpelling', options.eventSpelling, ['awkward', 'compact']),
    masterKey: checkSecretText(options.masterKey ?? `master_${randomToken(random, 24)}`, 'masterKey'),
    exchangeRate: (pair: string) => checkRate(typeof rate === 'function' ? rate(pair) : rate),
    refundFee: decimalOption('refundFee', options.refundFee),
    mobileMoneyCurrencies: texts('mobileMoneyCurrencies', options.mobileMoneyCurrencies),
    numbersNotOnMessenger: texts('numbersNotOnMessenger', options.numbersNotOnMessenger),
    settledCryptoStatus: checkOneOf(
      'settledCryptoStatus',
      options.settledCryptoStatus,
      settledCryptoStatuses,
    ),
    thirdPartyKycError: checkOneOf('thirdPartyKycError', options.thirdPartyKycError, thirdPartyKycErrors),
    readOrder: checkFunction('readOrder', options.readOrder),
  });
}

function checkRate(text: string): { text: string; decimal: Decimal } {
  const decimal = decimalOption('exchangeRate', text);
  if (decimal.units === 0n) throw invalidOption('exchangeRate must be more than zero.');
  return { text, decimal };
}

function decimalOption(name: string, text: string): Decimal {
  const decimal = typeof text === 'string' ? parseDecimal(text) : undefined;
  if (decimal === undefined || exactNumber(decimal) === undefined) {
    throw invalidOption(`${name} must be decimal text such as "1500.25" that a number can give exactly.`);
  }
  return decimal;
}

function texts(name: string, value: readonly string[]): readonly string[] {
  if (!Array.isArray(value) || value.some((text) => typeof text !== 'string')) {
    throw invalidOption(`${name} must be a list of texts.`);
  }
  return [...value];
}
