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
import type { RecordStore } from '../store/record-store.ts';
import type { EventSpelling } from './callbacks/event-text.ts';
import type { CallbackRetryPolicy } from './callbacks/retry-policy.ts';
import type { FaultRates, FaultScenario } from './faults/fault-scenarios.ts';
import { type Decimal, exactNumber, parseDecimal } from './orders/decimal.ts';
import { checkPartners, type FixedPartner, type SandboxPartner } from './partners/fixed-partners.ts';
import { type RandomBytes, randomToken } from './secrets.ts';
import { seededRandom } from './seeded-random.ts';
import {
  checkTexts,
  type ResolvedVariants,
  resolveVariants,
  type ServiceVariants,
  variantNames,
} from './service-variants.ts';

/** The options of `defineDeployment` that describe how this deployment differs. */
type DeploymentPart<Order> = Pick<
  DeploymentOptions<Order>,
  'paths' | 'wireNames' | 'signature' | 'orderSchema' | 'numberCheckParameters'
>;

export interface SandboxOptions<Order = BuyOrder> extends DeploymentPart<Order>, ServiceVariants {
  /** Posts the events to the partners' callback URLs. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
  /**
   * `real`: time passes by itself. `manual`: it stands still but for `sandbox.clock.advance`, so that what is delayed or
   * repeated happens exactly when a test says so. @default 'real'
   */
  clock?: 'real' | 'manual' | undefined;
  /** How often faults strike from the start: rates, or the name of a scenario. @default none: see `sandbox.faults` */
  faults?: FaultScenario | FaultRates | undefined;
  /** How often an event that is not acknowledged is posted again (ledger: `callback-retry`). @default 'none' */
  callbackRetry?: CallbackRetryPolicy | undefined;
  /**
   * How many entries of the trace, deliveries, mails and messages are kept of each; older ones are forgotten. Orders,
   * partners and devices are never forgotten. @default 10000
   */
  maxRemembered?: number | undefined;
  /**
   * Fixes everything random: keys, links, references, and where faults strike. The same seed replays what comes in the
   * same order. Who knows it knows the sandbox's keys. @default a random one, see `sandbox.seed`
   */
  seed?: string | number | undefined;
  /**
   * Where partners, keys, links, mails, orders, devices, messages and captured IPs last over restarts: the path of an
   * SQLite file, or a record store of yours, which stays open. Keys are in it as they are. One sandbox at a time.
   * @default undefined: in memory
   */
  data?: RecordStore | string | undefined;
  /** Partners that are there from the start, with keys of your choice. @default [] */
  partners?: readonly SandboxPartner[] | undefined;
  /** Source of keys, links and references in place of the seed, which then only decides about faults. */
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
export interface ResolvedSandboxOptions extends ResolvedVariants {
  readonly seed: string;
  readonly clock: 'real' | 'manual';
  readonly faults: FaultScenario | FaultRates | undefined;
  readonly callbackRetry: CallbackRetryPolicy;
  readonly maxRemembered: number;
  readonly data: RecordStore | string | undefined;
  readonly partners: readonly FixedPartner[];
  /** The source of a sandbox whose store was opened this often before. */
  readonly randomOfRun: (run: number) => RandomBytes;
  readonly isMasterKeyDrawn: boolean;
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

/** What a master key takes from the random stream. */
export const masterKeyBytes = 24;

const defaults = Object.freeze({
  // Looked up at each call, so that a fetch that is replaced later is used.
  fetch: (input: string | URL | Request, init?: RequestInit) => globalThis.fetch(input, init),
  now: () => Date.now(),
  clock: 'real',
  callbackRetry: 'none',
  maxRemembered: 10_000,
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
} satisfies Required<
  Omit<
    SandboxOptions,
    | keyof DeploymentPart<unknown>
    | keyof ServiceVariants
    | 'masterKey'
    | 'seed'
    | 'random'
    | 'faults'
    | 'data'
    | 'partners'
  >
>);

export const sandboxOptionNames: OptionNames<SandboxOptions> = {
  ...variantNames,
  // `defineDeployment` checks these.
  paths: true,
  wireNames: true,
  signature: true,
  orderSchema: true,
  numberCheckParameters: true,
  fetch: true,
  now: true,
  random: true,
  seed: true,
  clock: true,
  faults: true,
  data: true,
  partners: true,
  callbackRetry: true,
  maxRemembered: true,
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
  checkNames('createSandbox', given, sandboxOptionNames);
  const options = withDefaults(given, defaults);
  const seed = checkSeed(options.seed === undefined ? randomSeed() : options.seed);
  const randomOfRun = (run: number) =>
    options.random ?? seededRandom(seed, run === 0 ? 'keys' : `keys of run ${run}`).bytes;
  const random = checkFunction('random', randomOfRun(0));
  const rate = options.exchangeRate;
  if (typeof rate !== 'function') checkRate(rate);
  return Object.freeze({
    ...resolveVariants(given),
    seed,
    clock: checkOneOf('clock', options.clock, ['real', 'manual']),
    faults: options.faults,
    data: options.data,
    partners: checkPartners(options.partners ?? []),
    randomOfRun,
    isMasterKeyDrawn: options.masterKey === undefined,
    callbackRetry: options.callbackRetry,
    maxRemembered: checkInteger('maxRemembered', options.maxRemembered),
    fetch: checkFunction('fetch', options.fetch),
    now: checkFunction('now', options.now),
    random,
    whitelist: checkOneOf('whitelist', options.whitelist, ['enforced', 'off']),
    maxBodyBytes: checkInteger('maxBodyBytes', options.maxBodyBytes),
    callbackTimeoutMs: checkTimerMs('callbackTimeoutMs', options.callbackTimeoutMs),
    eventSpelling: checkOneOf('eventSpelling', options.eventSpelling, ['awkward', 'compact']),
    masterKey: checkSecretText(
      options.masterKey ?? `master_${randomToken(random, masterKeyBytes)}`,
      'masterKey',
    ),
    exchangeRate: (pair: string) => checkRate(typeof rate === 'function' ? rate(pair) : rate),
    refundFee: decimalOption('refundFee', options.refundFee),
    mobileMoneyCurrencies: checkTexts('mobileMoneyCurrencies', options.mobileMoneyCurrencies),
    numbersNotOnMessenger: checkTexts('numbersNotOnMessenger', options.numbersNotOnMessenger),
    settledCryptoStatus: checkOneOf(
      'settledCryptoStatus',
      options.settledCryptoStatus,
      settledCryptoStatuses,
    ),
    thirdPartyKycError: checkOneOf('thirdPartyKycError', options.thirdPartyKycError, thirdPartyKycErrors),
    readOrder: checkFunction('readOrder', options.readOrder),
  });
}

/** Long enough that nobody on the network guesses it, and with it the keys. */
function randomSeed(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex');
}

function checkSeed(seed: string | number): string {
  if (typeof seed === 'number' ? Number.isFinite(seed) : typeof seed === 'string' && seed !== '') {
    return String(seed);
  }
  throw invalidOption('seed must be text that is not empty, or a number.');
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
