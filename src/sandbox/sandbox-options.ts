import { checkSecretText } from '../credentials/partner-credentials.ts';
import type { DeploymentOptions } from '../deployment/define-deployment.ts';
import type { BuyOrder } from '../deployment/order-schema.ts';
import { platformFetch } from '../deployment/platform-fetch.ts';
import {
  type SettledCryptoStatus,
  settledCryptoStatuses,
  type ThirdPartyKycError,
  thirdPartyKycErrors,
} from '../events/status.ts';
import type { JsonObject } from '../internal/json.ts';
import {
  callback,
  defineOptions,
  integer,
  invalidOption,
  nested,
  type OptionTable,
  oneOf,
  optional,
  text,
  timerMs,
  unchecked,
  value,
} from '../internal/options.ts';
import type { RandomBytes } from '../internal/random.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { CallbackRetryPolicy } from './events/delivery.ts';
import { type EventChange, eventChangesRow } from './events/event-change.ts';
import type { EventSpelling } from './events/event-text.ts';
import type { FaultRates, FaultScenario } from './faults/faults.ts';
import { type Decimal, exactNumber, parseDecimal } from './orders/decimal.ts';
import { checkPartners, type SandboxPartner } from './partners/fixed-partners.ts';
import { type DenialForm, denialNames, type ReplyForm, replyFormNames } from './reply-forms.ts';

/** The options of `defineDeployment` that describe how this deployment differs. */
type DeploymentPart<Order> = Pick<
  DeploymentOptions<Order>,
  'paths' | 'wireNames' | 'signature' | 'orderSchema' | 'numberCheckParameters'
>;

/** Options of {@link createSandbox}. */
export interface SandboxOptions<Order = BuyOrder> extends DeploymentPart<Order> {
  /** Posts the events to the partners' callback URLs. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
  /**
   * `manual`: the time stands still except for `sandbox.clock.advance`, so that a test decides when delayed events
   * are posted. @default 'real'
   */
  clock?: 'real' | 'manual' | undefined;
  /** How often faults happen from the start: rates, or the name of a scenario. @default none: see `sandbox.faults` */
  faults?: FaultScenario | FaultRates | undefined;
  /** How often an event that is not acknowledged is posted again (ledger: `callback-retry`). @default 'none' */
  callbackRetry?: CallbackRetryPolicy | undefined;
  /**
   * How many entries of the trace, deliveries, mails, messages and orders are kept of each. Closed orders are
   * forgotten first, and their ids may be used again. Partners and devices are never forgotten. @default 10000
   */
  maxRemembered?: number | undefined;
  /**
   * Fixes everything random: keys, links, references, and where faults happen. The same seed replays what comes in the
   * same order. The seed determines the sandbox's keys: keep it secret. @default a random one, see `sandbox.seed`
   */
  seed?: string | number | undefined;
  /**
   * Stores partners, keys, links, mails, orders, devices, messages and captured IPs: the path of an SQLite file, or
   * your own record store, which stays open. It holds keys in plain text. Only one sandbox at a time may use it.
   * @default undefined: in memory
   */
  data?: RecordStore | string | undefined;
  /** Partners that exist from the start, with keys of your choice. @default [] */
  partners?: readonly SandboxPartner[] | undefined;
  /**
   * Called when everything is forgotten, by `reset` or the inspector, before `reset` resolves: prepare the sandbox again.
   * @default nothing
   */
  onReset?: (() => void | Promise<void>) | undefined;
  /** Source of keys, links and references instead of the seed, which then determines only the faults. */
  random?: RandomBytes | undefined;
  /** Whether orders are refused from an IP that was not whitelisted. @default 'enforced' */
  whitelist?: 'enforced' | 'off' | undefined;
  /** Longest request body, in bytes. @default 1048576 (1 MiB; the sandbox's choice) */
  maxBodyBytes?: number | undefined;
  /** How long a partner may take to answer an event, in milliseconds. @default 10000 (the sandbox's choice) */
  callbackTimeoutMs?: number | undefined;
  /**
   * How the text of the events is spelled. `awkward`: with white space, `\\/`, `\\u00e9`, `10.0`, and an
   * integer-like name after the signature. A receiver that verifies anything but the raw body fails, as it would in
   * production. `compact`: as `JSON.stringify` writes it. @default 'awkward' (the sandbox's choice)
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
  /** The status that refuses a message to one of them, 400 to 499. @default 422 */
  numberRefusalStatus?: number | undefined;
  /** Spelling of the status of a credited order. @default 'PAID' (contract: the event for crediting) */
  settledCryptoStatus?: SettledCryptoStatus | undefined;
  /** Spelling of the third-party KYC error. @default 'THIRD_PARTY_PAYMENT' (contract: the sample body) */
  thirdPartyKycError?: ThirdPartyKycError | undefined;
  /**
   * Reads the members for the events from a payload of your own `orderSchema`: `partner_order_id`, `fiat_amount`
   * (decimal text), `fiat_currency`, `chain`, `buyer_crypto_address`, `partner_callback_url`, and optionally
   * `buyer_email`, `buyer_phone`, `first_name`, `last_name` and `refund_account`. @default the payload itself
   */
  readOrder?: ((payload: JsonObject) => JsonObject) | undefined;

  // Points that the contract leaves open. docs/details/sandbox.md has the ledger's id of each.

  /**
   * Currencies with a merchant key of their own in `merchantSecretKeys`; `merchantSecretKey` signs orders in all
   * others. @default one merchant
   */
  merchants?: readonly string[] | undefined;
  /** The beginning of merchant keys (reported: one sample has no prefix). @default 'sk_merchant_' */
  merchantKeyPrefix?: 'sk_merchant_' | '' | undefined;
  /** Milliseconds on the sandbox's clock until a public key is refused. @default undefined: keys do not expire */
  keyLifetimeMs?: number | undefined;
  /** When a regeneration invalidates the old keys: at the request, or when its link is opened. @default 'link' */
  oldKeysExpire?: 'request' | 'link' | undefined;
  /** Whether an order needs the header x-partner-id. A wrong one is always refused. @default 'optional' */
  partnerIdHeader?: 'optional' | 'required' | undefined;
  /** Pairs, chains and currencies that an order may have. @default any */
  allowedValues?: AllowedValues | undefined;
  /**
   * The reply to an order with a used `partner_order_id`: a refusal (409), the existing order, or a second order.
   * @default 'refused'
   */
  duplicateOrders?: 'refused' | 'same' | 'second' | undefined;
  /** Whether `advance` refuses a step that cannot follow. @default 'checked' */
  orderTransitions?: 'checked' | 'any' | undefined;
  /**
   * Successful replies: `plain`, or in one of the `replyForms`: `wrapped` in `{ status: 'success', data }`, `text` (just
   * "OK"), `empty`, `html`, `cut` and others, which a client takes for `unknown`. Keys and signatures stay plain, or are
   * wrapped. @default 'plain'
   */
  replies?: 'plain' | ReplyForm | undefined;
  /** Status of successful replies, 200 to 299; those with keys and signatures keep 200. @default 200 */
  replyStatus?: number | undefined;
  /**
   * Whether a refusal has its status, or is a 200: with `{ success: false, error, message }` for `ok`, or with one of
   * the `denials`. @default 'status'
   */
  errorReplies?: 'status' | 'ok' | DenialForm | undefined;
  /** The status of an order from an IP that is not whitelisted, 400 to 499. @default 403 */
  whitelistStatus?: number | undefined;
  /** The status of an order whose `partner_order_id` is used and refused, 400 to 499. @default 409 */
  duplicateStatus?: number | undefined;
  /**
   * `checks`: a message to a number that is not on the messenger is refused with `verify_check: true`, and otherwise
   * accepted and lost. `ignored`: it is always refused. @default 'ignored'
   */
  verifyCheck?: 'ignored' | 'checks' | undefined;
  /** The beginning of API keys (reported). @default 'API-X-' */
  apiKeyPrefix?: string | undefined;
  /** `bare`: `event.buy.third_party_error` has only its name and the two order ids. @default 'common' */
  thirdPartyErrorBody?: 'common' | 'bare' | undefined;
  /** `meta_data.status` of the close event. @default 'refunded' (contract) */
  closeStatus?: string | undefined;
  /**
   * How the form of the events differs from the documented one: see `EventChange`. They are signed as they are.
   * @default []
   */
  eventChanges?: readonly EventChange[] | undefined;
  /** The Content-Type of the events; an empty text for none. @default 'application/json' */
  callbackContentType?: string | undefined;
  /** Which answers to an event count as received. @default '2xx' */
  callbackReceived?: '2xx' | '200' | 'any' | undefined;
  /** Whether the reported endpoint exists that signs any body with any secret. @default 'on' */
  signingEndpoint?: 'on' | 'off' | undefined;
}

/** The values that an order may have. Without a list, any. @inline */
export interface AllowedValues {
  /** `<FIAT>/<CRYPTO>` */
  readonly pair?: readonly string[] | undefined;
  readonly chain?: readonly string[] | undefined;
  readonly fiat_currency?: readonly string[] | undefined;
}

/** The options of a running sandbox. */
export interface SandboxSettings extends Omit<ReturnType<typeof readSandboxOptions>, 'random'> {
  /** Draws keys, links and references. */
  readonly random: RandomBytes;
}

/** @throws {ConfigurationError} `invalid_option` naming the option; `invalid_credentials` for a bad master key */
export function readSandboxOptions(options: SandboxOptions<unknown>) {
  const settings = readOptions(options);
  const { exchangeRate } = settings;
  return Object.freeze({
    ...settings,
    partners: checkPartners(settings.partners ?? []),
    exchangeRate: (pair: string) =>
      parseRate(typeof exchangeRate === 'function' ? exchangeRate(pair) : exchangeRate),
    refundFee: parseExact(settings.refundFee ?? '0', 'refundFee'),
  });
}

const texts = value((given, name): readonly string[] => {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return Object.freeze([...given]);
  throw invalidOption(`${name} must be a list of texts.`);
});

export function textsOr(...usual: string[]) {
  return value((given, name) => texts.read(name, given), { default: usual });
}

const readOptions = defineOptions('createSandbox', {
  // Checked by `defineDeployment`.
  paths: unchecked<NonNullable<SandboxOptions['paths']>>(),
  wireNames: unchecked<NonNullable<SandboxOptions['wireNames']>>(),
  signature: unchecked<NonNullable<SandboxOptions['signature']>>(),
  orderSchema: unchecked<NonNullable<SandboxOptions<unknown>['orderSchema']>>(),
  numberCheckParameters: unchecked<NonNullable<SandboxOptions['numberCheckParameters']>>(),
  fetch: callback<typeof fetch>({ default: platformFetch }),
  now: callback({ default: () => Date.now() }),
  clock: oneOf(['real', 'manual'], { default: 'real' }),
  // Checked where they are used.
  faults: unchecked<FaultScenario | FaultRates>(),
  callbackRetry: unchecked<CallbackRetryPolicy>(),
  data: unchecked<RecordStore | string>(),
  partners: unchecked<readonly SandboxPartner[]>(),
  maxRemembered: integer({ default: 10_000 }),
  seed: { read: (_, given) => (given === undefined ? randomSeed() : checkSeed(given)) },
  onReset: callback<() => void | Promise<void>>({ default: () => {} }),
  random: optional(callback<RandomBytes>()),
  whitelist: oneOf(['enforced', 'off'], { default: 'enforced' }),
  maxBodyBytes: integer({ default: 1024 * 1024 }),
  callbackTimeoutMs: timerMs({ default: 10_000 }),
  eventSpelling: oneOf(['awkward', 'compact'], { default: 'awkward' }),
  masterKey: optional(value(checkSecretText)),
  exchangeRate: value(
    (given): string | ((pair: string) => string) =>
      // Sound as far as a function can be checked.
      typeof given === 'function' ? (given as (pair: string) => string) : parseRate(given).text,
    { default: '1500' },
  ),
  refundFee: unchecked<string>(),
  mobileMoneyCurrencies: textsOr('GHS', 'KES', 'KHS'),
  numbersNotOnMessenger: textsOr(),
  numberRefusalStatus: integer({ default: 422, least: 400, most: 499 }),
  settledCryptoStatus: oneOf(settledCryptoStatuses, { default: 'PAID' }),
  thirdPartyKycError: oneOf(thirdPartyKycErrors, { default: 'THIRD_PARTY_PAYMENT' }),
  readOrder: callback<(payload: JsonObject) => JsonObject>({ default: (payload) => payload }),
  merchants: textsOr(),
  merchantKeyPrefix: oneOf(['sk_merchant_', ''], { default: 'sk_merchant_' }),
  keyLifetimeMs: optional(integer()),
  oldKeysExpire: oneOf(['link', 'request'], { default: 'link' }),
  partnerIdHeader: oneOf(['optional', 'required'], { default: 'optional' }),
  allowedValues: nested({ pair: optional(texts), chain: optional(texts), fiat_currency: optional(texts) }),
  duplicateOrders: oneOf(['refused', 'same', 'second'], { default: 'refused' }),
  orderTransitions: oneOf(['checked', 'any'], { default: 'checked' }),
  replies: oneOf(['plain', ...replyFormNames], { default: 'plain' }),
  replyStatus: integer({ default: 200, least: 200, most: 299 }),
  errorReplies: oneOf(['status', 'ok', ...denialNames], { default: 'status' }),
  whitelistStatus: integer({ default: 403, least: 400, most: 499 }),
  duplicateStatus: integer({ default: 409, least: 400, most: 499 }),
  verifyCheck: oneOf(['ignored', 'checks'], { default: 'ignored' }),
  // An API key goes into a query.
  apiKeyPrefix: value(
    (given, name) => {
      if (typeof given === 'string' && /^[!-~]*$/.test(given)) return given;
      throw invalidOption(`${name} must be printable ASCII without blanks.`);
    },
    { default: 'API-X-' },
  ),
  thirdPartyErrorBody: oneOf(['common', 'bare'], { default: 'common' }),
  closeStatus: text({ default: 'refunded' }),
  eventChanges: eventChangesRow,
  callbackContentType: value(
    (given, name) => {
      if (typeof given === 'string' && /^[ -~]*$/.test(given)) return given;
      throw invalidOption(`${name} must be printable ASCII.`);
    },
    { default: 'application/json' },
  ),
  callbackReceived: oneOf(['2xx', '200', 'any'], { default: '2xx' }),
  signingEndpoint: oneOf(['on', 'off'], { default: 'on' }),
} satisfies OptionTable<SandboxOptions<unknown>>);

/** The seed determines the keys, so it must not be guessable. */
function randomSeed(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex');
}

function checkSeed(seed: unknown): string {
  if (typeof seed === 'number' ? Number.isFinite(seed) : typeof seed === 'string' && seed !== '') {
    return String(seed);
  }
  throw invalidOption('seed must be text that is not empty, or a number.');
}

function parseRate(given: unknown): { text: string; decimal: Decimal } {
  const decimal = parseExact(given, 'exchangeRate');
  if (decimal.units === 0n) throw invalidOption('exchangeRate must be more than zero.');
  return { text: String(given), decimal };
}

function parseExact(given: unknown, name: string): Decimal {
  const decimal = typeof given === 'string' ? parseDecimal(given) : undefined;
  if (decimal === undefined || exactNumber(decimal) === undefined) {
    throw invalidOption(`${name} must be decimal text such as "1500.25" that a number can give exactly.`);
  }
  return decimal;
}
