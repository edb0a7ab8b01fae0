import type { RequestError } from '../errors/errors.ts';
import { isJsonObject } from '../internal/json.ts';
import {
  callback,
  defineOptions,
  integer,
  invalidOption,
  nested,
  type OptionTable,
  optional,
  type RandomBytes,
  randomBytes,
  value,
} from '../internal/options.ts';
import { checkStore, type RecordStore } from '../store/record-store.ts';
import type { OtpMessenger } from './otp-messenger.ts';
import type { OtpReport } from './otp-report.ts';
import { checkSecrets } from './otp-secrets.ts';
import { checkCountry, checkPrefixes } from './phone.ts';

/** Options of {@link createOtp}. */
export interface OtpOptions {
  /** Sends through one device. */
  messenger: OtpMessenger;
  /** Keeps hashes, counters, and the encrypted phone number, purpose and subject of each code. */
  store: RecordStore;
  /**
   * Keys of at least 32 bytes, newest first: new codes take the first, and all check. To rotate, add the new one last
   * everywhere, then make it the first, and drop the old one a day later. Limits count anew under a new first one.
   */
  secrets: readonly (string | Uint8Array)[];
  /** How phone numbers must begin (`['+234', '+1415']`), or `'any'`: a code to an expensive country costs you. */
  allowedPrefixes: readonly string[] | 'any';
  /**
   * Country of numbers without `+`, as two capital letters (ISO 3166-1): with `NG`, `0801 234 5678` is `+2348012345678`.
   * @default none: such numbers are invalid
   */
  country?: string | undefined;
  /** Digits of a code, 6 to 10. @default 6 (NIST SP 800-63B-4, 3.1.3.2: at least six; ASVS 5.0, 6.5.4: 20 bits) */
  codeLength?: number | undefined;
  /**
   * Milliseconds for which a code is valid, up to 600000.
   * @default 600000 (10 minutes, the most of NIST SP 800-63B-4, 3.1.3.2, and of ASVS 5.0, 6.5.5)
   */
  lifetimeMs?: number | undefined;
  /** Attempts to type in a code, for all messages of an id together. @default 5 (Twilio Verify; better-auth: 3) */
  maxAttempts?: number | undefined;
  /** Messages of an id, the first included. @default 5 (Twilio Verify) */
  maxSends?: number | undefined;
  /** Milliseconds to wait after a message to a number, up to a day; none after a right code. @default 60000 (Supabase Auth) */
  cooldownMs?: number | undefined;
  /** Each has a default of its own. */
  limits?: OtpLimits | undefined;
  /** The text of a message; it must hold the code as it is given. @default English, with code and minutes */
  message?: ((content: OtpMessageContent) => string) | undefined;
  /**
   * Whether a refusal is about the phone number; otherwise it is about the device.
   * @default status 400, 410 or 422, or 404 or a 2xx that denies with JSON that names the number (ledger: `otp-refusal`)
   */
  isNumberRefusal?: ((error: RequestError) => boolean) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** Cryptographically secure random bytes. @default crypto.getRandomValues */
  random?: RandomBytes | undefined;
  /**
   * Called after each call with its outcome, for metrics and logs. Not awaited; if it throws, that is a process warning.
   */
  onOtp?: ((report: OtpReport) => unknown) | undefined;
}

/** The parts of a message's text. */
export interface OtpMessageContent {
  /** The code, which the text must contain. */
  readonly code: string;
  /** Whole minutes for which it is valid, rounded down, at least 1. */
  readonly minutes: number;
  /** As given to `issue`. */
  readonly purpose: string;
}

/** A limit: at most `max` in a window of time, which begins with the first message. */
export interface RateLimit {
  /** Most messages. */
  readonly max: number;
  /** Milliseconds. */
  readonly windowMs: number;
}

/** If few of the codes sent for an address are ever typed in, somebody abuses you to send messages. */
export interface UnconfirmedLimit {
  /** Unconfirmed messages that are always allowed. */
  readonly floor: number;
  /** The share of messages that must be confirmed beyond that: 0 to 1. */
  readonly ratio: number;
  /** Milliseconds. */
  readonly windowMs: number;
}

/** Limits over all codes. None of them is reset by sending again or by a new code. */
export interface OtpLimits {
  /**
   * Messages to one phone number. Limits the messages that one person gets, and the codes to guess at.
   * @default 10 in an hour (Twilio Verify: 5 in 10 minutes; Supabase Auth: one in a minute)
   */
  readonly messagesPerPhone?: RateLimit | undefined;
  /**
   * Against message pumping: unconfirmed messages for one address (IPv4, or the /64 of IPv6). Counts where you give `ip`.
   * @default floor 10, ratio 0.3, in a day (ours, after Twilio's advice to watch the share of confirmed codes)
   */
  readonly unconfirmedPerIp?: UnconfirmedLimit | undefined;
  /**
   * Wrong codes for one phone number in a day without a right one between, for any purpose. Beyond it the number gets no
   * new codes; issued codes can still be used.
   * @default 100 (NIST SP 800-63B-4, 3.2.2)
   */
  readonly failuresPerPhone?: number | undefined;
}

const hour = 3_600_000;

const rate = nested({ max: integer(), windowMs: integer() });
const unconfirmed = nested({ floor: integer(), ratio: checkRatio, windowMs: integer() });

const readOptions = defineOptions('createOtp', {
  messenger: checkMessenger,
  store: checkStore,
  // Sound: `checkSecrets` checks them when it makes keys of them.
  secrets: (secrets) => secrets as OtpOptions['secrets'],
  allowedPrefixes: checkPrefixes,
  country: checkCountry,
  codeLength: integer({ default: 6, least: 6, most: 10 }),
  lifetimeMs: integer({ default: 600_000, most: 600_000 }),
  maxAttempts: integer({ default: 5, most: 100 }),
  maxSends: integer({ default: 5, most: 100 }),
  cooldownMs: integer({ default: 60_000, least: 0, most: 24 * hour }),
  limits: nested({
    messagesPerPhone: value(rate, { default: { max: 10, windowMs: hour } }),
    unconfirmedPerIp: value(unconfirmed, { default: { floor: 10, ratio: 0.3, windowMs: 24 * hour } }),
    failuresPerPhone: integer({ default: 100 }),
  } satisfies OptionTable<OtpLimits>),
  message: callback({ default: englishMessage }),
  isNumberRefusal: callback({ default: refusesNumber }),
  now: callback({ default: () => Date.now() }),
  random: callback({ default: randomBytes }),
  onOtp: optional(callback<NonNullable<OtpOptions['onOtp']>>()),
} satisfies OptionTable<OtpOptions>);

export type OtpSettings = ReturnType<typeof readOtpOptions>;

/** @throws {ConfigurationError} `invalid_option` */
export function readOtpOptions(options: OtpOptions) {
  const settings = readOptions(options);
  return Object.freeze({
    ...settings,
    secrets: checkSecrets(settings.secrets),
    // A clock may have fractions; the times of records have none.
    now: () => Math.floor(settings.now()),
  });
}

function englishMessage({ code, minutes }: OtpMessageContent): string {
  return `${code} is your code. It is valid for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}. Do not give it to anybody.`;
}

function checkMessenger(messenger: unknown): OtpMessenger {
  // Sound as far as it is checked: what sendMessage takes and returns cannot be.
  if (typeof Object(messenger).sendMessage === 'function') return messenger as OtpMessenger;
  throw invalidOption('messenger must be a MessengerClient, or have a sendMessage like its own.');
}

function checkRatio(ratio: unknown, name: string): number {
  if (typeof ratio === 'number' && ratio >= 0 && ratio <= 1) return ratio;
  throw invalidOption(`${name} must be a number from 0 to 1.`);
}

const numberStatuses: readonly (number | undefined)[] = [400, 410, 422];

/**
 * Whether refusing a message is about its phone number (ledger: `otp-refusal`). A 404 is about the address of the
 * request, unless its JSON names the number: any web server answers 404 under a wrong base URL. A 2xx that denies the
 * message may have any reason, so its JSON has to name the number too.
 */
function refusesNumber({ status, code, assumptions, body }: RequestError): boolean {
  if (numberStatuses.includes(status)) return true;
  // The error cites this where the reply names the recipient. A page's words may be about anything.
  const namesNumber = assumptions.includes('otp-refusal') && isJsonObject(body);
  return namesNumber && (status === 404 || code === 'reply_not_accepted');
}
