import { OtpError, type OtpErrorCode, type OtpLimit } from '../errors/errors.ts';
import type { NetworkCounts, PhoneCounts } from './counters.ts';
import { countEvents, type EventWindow, recent, waitUntilGone } from './event-window.ts';
import type { OtpSettings, RateLimit, UnconfirmedLimit } from './otp-options.ts';

export interface Denial {
  readonly code: Extract<OtpErrorCode, 'cool_down' | 'limit_reached'>;
  readonly limit?: OtpLimit;
  readonly retryAfterMs: number;
}

export function denialError({ code, limit, retryAfterMs }: Denial): OtpError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const message =
    code === 'cool_down'
      ? `The phone number got a code a moment ago; the next one is possible in ${seconds} s.`
      : `The limit "${limit}" is reached for another ${seconds} s.`;
  return new OtpError(code, message, { retryAfterMs, limit });
}

/** Denies one more event than the limit allows. */
export function overRate(
  limit: OtpLimit,
  events: EventWindow,
  { max, windowMs }: RateLimit,
  now: number,
): Denial | undefined {
  const kept = recent(events, windowMs, now);
  const over = countEvents(kept) - max + 1;
  if (over <= 0) return undefined;
  return { code: 'limit_reached', limit, retryAfterMs: waitUntilGone(kept, windowMs, now, over) };
}

export function overUnconfirmed(
  counts: NetworkCounts,
  { floor, ratio, windowMs }: UnconfirmedLimit,
  now: number,
): Denial | undefined {
  const attempted = recent(counts.attempted, windowMs, now);
  const confirmed = countEvents(recent(counts.confirmed, windowMs, now));
  const unconfirmed = countEvents(attempted) - confirmed;
  if (unconfirmed < floor || confirmed >= ratio * countEvents(attempted)) return undefined;
  const over = unconfirmed - floor + 1;
  return {
    code: 'limit_reached',
    limit: 'unconfirmedPerIp',
    retryAfterMs: waitUntilGone(attempted, windowMs, now, over),
  };
}

export function coolingDown(
  { lastMessageAt }: PhoneCounts,
  coolDownMs: number,
  now: number,
): Denial | undefined {
  const retryAfterMs = lastMessageAt + coolDownMs - now;
  return retryAfterMs > 0 ? { code: 'cool_down', retryAfterMs } : undefined;
}

/** 0 if the cool-down ended long ago. */
export function streakOf(
  { streak, lastMessageAt }: PhoneCounts,
  { limits, coolDownMs }: Pick<OtpSettings, 'limits' | 'coolDownMs'>,
  now: number,
): number {
  const forgottenAt = lastMessageAt + coolDownOf(coolDownMs, streak) + limits.phone.windowMs;
  return now < forgottenAt ? streak : 0;
}

export function coolDownOf(coolDownMs: readonly number[], streak: number): number {
  return streak === 0 ? 0 : (coolDownMs[streak - 1] ?? coolDownMs.at(-1) ?? 0);
}
