import { checkSecretText } from '../credentials/check-key.ts';
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
import { checkPartners, type FixedPartner } from './partners/fixed-partners.ts';
import type { DeploymentPart, SandboxOptions } from './sandbox-options.ts';
import { type RandomBytes, randomToken } from './secrets.ts';
import { seededRandom } from './seeded-random.ts';
import {
  checkTexts,
  type ResolvedVariants,
  resolveVariants,
  type ServiceVariants,
  variantNames,
} from './service-variants.ts';

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
