import type { RequestError } from '../errors/request-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, invalidOption } from '../options/check-values.ts';
import { withDefaults } from '../options/with-defaults.ts';
import { checkStore } from '../store/check-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { OtpMessenger } from './devices.ts';
import { checkLimits, type OtpLimits, type ResolvedLimits } from './limit-options.ts';
import type { RandomBytes } from './one-time-code.ts';
import type { OtpReport } from './otp-report.ts';
import { checkSecrets, type Secret } from './secrets.ts';

export interface OtpOptions {
  /** One device, or several: each message goes through the next one that is not left out. */
  messenger: OtpMessenger | readonly OtpMessenger[];
  /** Keeps hashes, counters, and what is needed to send again, encrypted. */
  store: RecordStore;
  /**
   * Keys of at least 32 bytes, newest first. The first is used for new codes; with the others, codes that are out still
   * check. To rotate, add the new one last everywhere, then make it the first, and drop the old one a day later.
   */
  secrets: readonly (string | Uint8Array)[];
  /**
   * How phone numbers must begin (`['+234', '+1415']`), or `'any'`. A code to an expensive country costs you; list those
   * where your users are. (Twilio Verify: Geo Permissions.)
   */
  allowedPrefixes: readonly string[] | 'any';
  /** Digits of a code, 6 to 10. @default 6 (NIST SP 800-63B-4, 3.1.3.2: at least six; ASVS 5.0, 6.5.4: 20 bits) */
  codeLength?: number | undefined;
  /**
   * Milliseconds for which a code is valid, up to 600000.
   * @default 600000 (10 minutes, the most of NIST SP 800-63B-4, 3.1.3.2, and of ASVS 5.0, 6.5.5)
   */
  lifetimeMs?: number | undefined;
  /** Codes that can be typed in, for all messages of a flow together. @default 5 (Twilio Verify; better-auth: 3) */
  maxAttempts?: number | undefined;
  /** Messages of a flow, the first included. @default 5 (Twilio Verify) */
  maxSends?: number | undefined;
  /**
   * Milliseconds between messages to one phone number: after the first, the second …, the last one for all others. A
   * code that is confirmed begins anew, and so does a cool-down that has been over for `limits.phone.windowMs`. Empty for
   * none.
   * @default [30000, 60000, 120000, 300000] (ours; Twilio advises growing waits that begin at 30 s, Supabase waits 60 s)
   */
  coolDownMs?: readonly number[] | undefined;
  /** Each has a default of its own. */
  limits?: OtpLimits | undefined;
  /** The text of a message; it must hold the code as it is given. @default English, with code and minutes */
  message?: ((content: OtpMessageContent) => string) | undefined;
  /**
   * Whether a refusal is about the phone number; otherwise it is about the device, and the next one is tried.
   * @default status 400, 404, 410 or 422 (ledger: `otp-refusal`)
   */
  isNumberRefusal?: ((error: RequestError) => boolean) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** Bytes that nobody can foresee. @default crypto.getRandomValues */
  random?: RandomBytes | undefined;
  /**
   * Called after each call with its outcome, for metrics and logs. Nothing waits for it; if it throws, that becomes a
   * process warning.
   */
  onOtp?: ((report: OtpReport) => unknown) | undefined;
}

/** What the text of a message is made of. */
export interface OtpMessageContent {
  readonly code: string;
  /** Whole minutes for which it is valid, rounded down, at least 1. */
  readonly minutes: number;
  readonly purpose: string;
}

/** The options with their defaults. Not public. */
export interface ResolvedOtpOptions {
  readonly messengers: readonly OtpMessenger[];
  readonly store: RecordStore;
  readonly secrets: readonly [Secret, ...Secret[]];
  readonly allowedPrefixes: readonly string[] | 'any';
  readonly codeLength: number;
  readonly lifetimeMs: number;
  readonly maxAttempts: number;
  readonly maxSends: number;
  readonly coolDownMs: readonly number[];
  readonly limits: ResolvedLimits;
  readonly message: (content: OtpMessageContent) => string;
  readonly isNumberRefusal: (error: RequestError) => boolean;
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly onOtp: ((report: OtpReport) => unknown) | undefined;
}

const numberStatuses: readonly (number | undefined)[] = [400, 404, 410, 422];

const defaults = Object.freeze({
  codeLength: 6,
  lifetimeMs: 600_000,
  maxAttempts: 5,
  maxSends: 5,
  coolDownMs: [30_000, 60_000, 120_000, 300_000],
  limits: {},
  message: ({ code, minutes }: OtpMessageContent) =>
    `${code} is your code. It is valid for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}. Do not give it to anybody.`,
  isNumberRefusal: ({ status }: RequestError) => numberStatuses.includes(status),
  now: () => Date.now(),
  random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
} satisfies Partial<OtpOptions>);

const optionNames: OptionNames<OtpOptions> = {
  messenger: true,
  store: true,
  secrets: true,
  allowedPrefixes: true,
  codeLength: true,
  lifetimeMs: true,
  maxAttempts: true,
  maxSends: true,
  coolDownMs: true,
  limits: true,
  message: true,
  isNumberRefusal: true,
  now: true,
  random: true,
  onOtp: true,
};
/** @throws {ConfigurationError} `invalid_option` */
export function resolveOtpOptions(given: OtpOptions): ResolvedOtpOptions {
  checkNames('createOtp', given, optionNames);
  const options = withDefaults(given, defaults);
  return Object.freeze({
    messengers: checkMessengers(options.messenger),
    store: checkStore(options.store),
    secrets: checkSecrets(options.secrets),
    allowedPrefixes: checkPrefixes(options.allowedPrefixes),
    codeLength: checkInteger('codeLength', options.codeLength, { least: 6, most: 10 }),
    lifetimeMs: checkInteger('lifetimeMs', options.lifetimeMs, { most: 600_000 }),
    maxAttempts: checkInteger('maxAttempts', options.maxAttempts, { most: 100 }),
    maxSends: checkInteger('maxSends', options.maxSends, { most: 100 }),
    coolDownMs: checkCoolDown(options.coolDownMs),
    limits: checkLimits(options.limits),
    message: checkFunction('message', options.message),
    isNumberRefusal: checkFunction('isNumberRefusal', options.isNumberRefusal),
    now: wholeMs(checkFunction('now', options.now)),
    random: asMany(checkFunction('random', options.random)),
    onOtp: options.onOtp === undefined ? undefined : checkFunction('onOtp', options.onOtp),
  });
}

/** A clock may have fractions; the times of records have none. */
function wholeMs(now: () => number): () => number {
  return () => Math.floor(now());
}

/** Fewer bytes than asked for would make an id that can be guessed. */
function asMany(random: RandomBytes): RandomBytes {
  return (count) => {
    const bytes = random(count);
    if (bytes instanceof Uint8Array && bytes.byteLength === count) return bytes;
    throw invalidOption('random must return as many bytes as it is asked for.');
  };
}

function checkMessengers(messenger: OtpMessenger | readonly OtpMessenger[]): readonly OtpMessenger[] {
  const all: readonly OtpMessenger[] = [messenger].flat();
  if (all.length > 0 && all.every((one) => typeof one?.sendMessage === 'function')) return all;
  throw invalidOption('messenger must be a MessengerClient, or a list of at least one.');
}

function checkPrefixes(prefixes: readonly string[] | 'any'): readonly string[] | 'any' {
  if (prefixes === 'any') return prefixes;
  const isPrefix = (prefix: unknown) => typeof prefix === 'string' && /^\+[1-9]\d{0,14}$/.test(prefix);
  if (Array.isArray(prefixes) && prefixes.length > 0 && prefixes.every(isPrefix)) return [...prefixes];
  throw invalidOption("allowedPrefixes must be 'any', or a list of prefixes like '+234'.");
}

function checkCoolDown(coolDownMs: readonly number[]): readonly number[] {
  if (!Array.isArray(coolDownMs)) throw invalidOption('coolDownMs must be a list of milliseconds.');
  return coolDownMs.map((ms) => checkInteger('Each of coolDownMs', ms, { least: 0, most: 86_400_000 }));
}
