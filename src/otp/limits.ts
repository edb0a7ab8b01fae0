import { OtpError } from '../errors/errors.ts';
import type { RecordSet } from '../store/record-store.ts';
import {
  type Counter,
  type Counts,
  coolDownOf,
  failureWindowMs,
  networkCounter,
  openCounter,
  phoneCounter,
} from './counters.ts';
import { countEvents, type EventWindow, waitUntilGone } from './event-window.ts';
import type { OtpLimit } from './otp-limit.ts';
import type { OtpSettings, RateLimit, UnconfirmedLimit } from './otp-options.ts';

/** So that a message can be given back. */
export interface Reservation {
  readonly at: number;
  /** When the next message to this phone number may leave. */
  readonly nextAt: number;
  readonly lastMessageAt: number;
}

/** The counters that a message or a check concerns. */
export interface Counters {
  readonly phone: Counter;
  readonly network: Counter | undefined;
}

export function countersOf(
  settings: Pick<OtpSettings, 'limits' | 'secrets'>,
  { to_phone, network }: { to_phone: string; network: string | undefined },
): Counters {
  return {
    phone: phoneCounter(settings, to_phone),
    network: network === undefined ? undefined : networkCounter(settings, network),
  };
}

/** The keys that a transaction about these needs. */
export function keysOfCounters({ phone, network }: Counters): string[] {
  return network === undefined ? [phone.key] : [phone.key, network.key];
}

type LimitSettings = Pick<OtpSettings, 'limits' | 'coolDownMs'>;

/** The limits within one transaction. An error is returned, not thrown, so that what was counted is written. */
export function limitsOf(
  records: RecordSet,
  counters: Counters,
  { settings, now }: { settings: LimitSettings; now: number },
) {
  const { limits, coolDownMs } = settings;
  const phone = openCounter(records, counters.phone, { settings, now });
  const network = counters.network && openCounter(records, counters.network, { settings, now });

  return {
    /** Counts one message, or says why it may not leave. Of several reasons, the one that lasts longest. */
    reserve(): OtpError | Reservation {
      const counts = phone.read();
      const ofNetwork = network?.read();
      const streak = streakOf(counts, settings, now);
      const failureLimit = { max: limits.failuresPerPhone, windowMs: failureWindowMs };
      const [longest] = [
        overRate('phone', counts.messages, limits.phone, now),
        overRate('failuresPerPhone', counts.failures, failureLimit, now),
        ofNetwork && overRate('ip', ofNetwork.messages, limits.ip, now),
        ofNetwork && overUnconfirmed(ofNetwork, limits.unconfirmedPerIp, now),
        coolingDown(counts, coolDownOf(coolDownMs, streak), now),
      ]
        .filter((denial) => denial !== undefined)
        .sort((denial, other) => (other.retryAfterMs ?? 0) - (denial.retryAfterMs ?? 0));
      if (longest !== undefined) return longest;

      phone.add('messages');
      phone.change({ streak: streak + 1, lastMessageAt: now });
      network?.add('messages');
      network?.add('attempted');
      const nextAt = now + coolDownOf(coolDownMs, streak + 1);
      return { at: now, nextAt, lastMessageAt: counts.lastMessageAt };
    },

    /** Gives back the counts of a message that has not left. */
    giveBack(reservation: Reservation): void {
      // The clock may have moved back since.
      const at = Math.min(reservation.at, now);
      const { streak, lastMessageAt } = phone.read();
      // Another message may have left since: then its cool-down stays.
      const isLast = lastMessageAt === at;
      phone.change({
        streak: Math.max(0, streak - 1),
        lastMessageAt: isLast ? reservation.lastMessageAt : lastMessageAt,
      });
      phone.takeBack('messages', at);
      network?.takeBack('messages', at);
      network?.takeBack('attempted', at);
    },

    denyCheck: () => network && overRate('ip', network.read().failures, limits.ip, now),

    /** Counts for the network, and for the phone number if the code was compared. */
    countFailure({ wasCompared }: { wasCompared: boolean }): void {
      if (wasCompared) phone.add('failures');
      network?.add('failures');
    },

    /** After a right code neither failures nor cool-down count any more (NIST SP 800-63B-4, 3.2.2). */
    confirm: () => phone.change({ failures: [], streak: 0, lastMessageAt: 0 }),
  };
}

function limitReached(limit: OtpLimit, retryAfterMs: number): OtpError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const what = `The limit "${limit}" is reached for another ${seconds} s.`;
  return new OtpError('limit_reached', what, { retryAfterMs, limit });
}

/** Denies one more event than the limit allows. */
function overRate(limit: OtpLimit, events: EventWindow, { max, windowMs }: RateLimit, now: number) {
  const over = countEvents(events) - max + 1;
  return over > 0 ? limitReached(limit, waitUntilGone(events, windowMs, now, over)) : undefined;
}

function overUnconfirmed(counts: Counts, { floor, ratio, windowMs }: UnconfirmedLimit, now: number) {
  const attempted = countEvents(counts.attempted);
  const confirmed = countEvents(counts.confirmed);
  const over = attempted - confirmed - floor + 1;
  if (over <= 0 || confirmed >= ratio * attempted) return undefined;
  return limitReached('unconfirmedPerIp', waitUntilGone(counts.attempted, windowMs, now, over));
}

function coolingDown({ lastMessageAt }: Counts, coolDownMs: number, now: number): OtpError | undefined {
  const retryAfterMs = lastMessageAt + coolDownMs - now;
  if (retryAfterMs <= 0) return undefined;
  const seconds = Math.ceil(retryAfterMs / 1000);
  const what = `The phone number got a code a moment ago; the next one is possible in ${seconds} s.`;
  return new OtpError('cool_down', what, { retryAfterMs });
}

/** 0 if the cool-down ended long ago. */
function streakOf({ streak, lastMessageAt }: Counts, { limits, coolDownMs }: LimitSettings, now: number) {
  const forgottenAt = lastMessageAt + coolDownOf(coolDownMs, streak) + limits.phone.windowMs;
  return now < forgottenAt ? streak : 0;
}
