import type { OtpLimit } from '../errors/otp-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkInteger, invalidOption } from '../options/check-values.ts';
import { withDefaults } from '../options/with-defaults.ts';

/** So many in any stretch of this length. */
export interface RateLimit {
  readonly max: number;
  /** Milliseconds. */
  readonly windowMs: number;
}

/** When too few of the codes sent for an address are ever typed in, somebody makes you send messages for nothing. */
export interface UnconfirmedLimit {
  /** Messages without a confirmed code that are never too many. */
  readonly floor: number;
  /** Of more messages than that, the share that must have been confirmed: 0 to 1. */
  readonly ratio: number;
  /** Milliseconds. */
  readonly windowMs: number;
}

/** Limits over all codes. None of them is reset by sending again or by a new code. */
export interface OtpLimits {
  /**
   * Messages to one phone number. It bounds what one person gets, and what can be guessed at.
   * @default 10 in an hour (Twilio Verify: 5 in 10 minutes; Supabase Auth: one in a minute)
   */
  readonly phone?: RateLimit | undefined;
  /**
   * Messages for one address, and as many wrong codes from it: IPv4, or the /64 of IPv6. Counts where you give `ip`.
   * @default 60 in an hour (ours: a household or an office shares an address)
   */
  readonly ip?: RateLimit | undefined;
  /**
   * Against message pumping: messages for one address that nobody confirms. Counts where you give `ip`.
   * @default floor 10, ratio 0.3, in a day (ours, after Twilio's advice to watch the share of confirmed codes)
   */
  readonly unconfirmedPerIp?: UnconfirmedLimit | undefined;
  /**
   * Wrong codes for one phone number in a day without a right one between, whatever they were for. Beyond it the number
   * gets no new codes; those that are out can still be used.
   * @default 100 (NIST SP 800-63B-4, 3.2.2)
   */
  readonly failuresPerPhone?: number | undefined;
  /** Messages in all. All messages then share one record of the store. @default no limit */
  readonly total?: RateLimit | undefined;
}

/** With their defaults. Not public. */
export interface ResolvedLimits {
  readonly phone: RateLimit;
  readonly ip: RateLimit;
  readonly unconfirmedPerIp: UnconfirmedLimit;
  readonly failuresPerPhone: number;
  readonly total: RateLimit | undefined;
}

const hour = 3_600_000;
const day = 24 * hour;

const limitDefaults = Object.freeze({
  phone: { max: 10, windowMs: hour },
  ip: { max: 60, windowMs: hour },
  unconfirmedPerIp: { floor: 10, ratio: 0.3, windowMs: day },
  failuresPerPhone: 100,
} satisfies OtpLimits);

const limitNames: Readonly<Record<Exclude<OtpLimit, 'maxSends'>, true>> & OptionNames<OtpLimits> = {
  phone: true,
  ip: true,
  unconfirmedPerIp: true,
  failuresPerPhone: true,
  total: true,
};
const rateNames: OptionNames<RateLimit> = { max: true, windowMs: true };
const unconfirmedNames: OptionNames<UnconfirmedLimit> = { floor: true, ratio: true, windowMs: true };

/** @throws {ConfigurationError} `invalid_option` */
export function checkLimits(given: OtpLimits): ResolvedLimits {
  checkNames('limits', given, limitNames);
  const limits = withDefaults(given, limitDefaults);
  return {
    phone: checkRate('limits.phone', limits.phone),
    ip: checkRate('limits.ip', limits.ip),
    unconfirmedPerIp: checkUnconfirmed(limits.unconfirmedPerIp),
    failuresPerPhone: checkInteger('limits.failuresPerPhone', limits.failuresPerPhone),
    total: limits.total === undefined ? undefined : checkRate('limits.total', limits.total),
  };
}

function checkRate(name: string, rate: RateLimit): RateLimit {
  checkNames(name, rate, rateNames);
  return {
    max: checkInteger(`${name}.max`, rate.max),
    windowMs: checkInteger(`${name}.windowMs`, rate.windowMs),
  };
}

function checkUnconfirmed(limit: UnconfirmedLimit): UnconfirmedLimit {
  const name = 'limits.unconfirmedPerIp';
  checkNames(name, limit, unconfirmedNames);
  const { floor, ratio, windowMs } = limit;
  if (typeof ratio !== 'number' || !(ratio >= 0 && ratio <= 1)) {
    throw invalidOption(`${name}.ratio must be a number from 0 to 1.`);
  }
  return {
    floor: checkInteger(`${name}.floor`, floor),
    ratio,
    windowMs: checkInteger(`${name}.windowMs`, windowMs),
  };
}
