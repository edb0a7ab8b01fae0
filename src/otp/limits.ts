import type { RecordSet } from '../store/record-store.ts';
import {
  type Counter,
  type NetworkCounts,
  type PhoneCounts,
  readTotal,
  totalKey,
  writeTotal,
} from './counters.ts';
import { coolDownOf, coolingDown, type Denial, overRate, overUnconfirmed, streakOf } from './denials.ts';
import { type EventWindow, recent, withEvent, withoutEvent } from './event-window.ts';
import type { OtpSettings } from './otp-options.ts';

export interface Counters {
  readonly phone: Counter<PhoneCounts>;
  readonly network: Counter<NetworkCounts> | undefined;
}

/** So that a message can be given back. */
export interface Reservation {
  readonly at: number;
  /** When the next message to this phone number may leave. */
  readonly nextAt: number;
  readonly lastMessageAt: number;
}

type LimitSettings = Pick<OtpSettings, 'limits' | 'coolDownMs'>;

/** NIST counts failures in a row without a time limit; after a day a locked number is free again. */
const failureWindowMs = 86_400_000;

export function attemptKeys({ phone, network }: Counters): string[] {
  return [...phone.keys, ...(network?.keys ?? [])];
}

export function messageKeys(counters: Counters, { limits }: LimitSettings): string[] {
  return [...attemptKeys(counters), ...(limits.total === undefined ? [] : [totalKey])];
}

/** The limits within one transaction. */
export function limitsOf(
  records: RecordSet,
  { phone, network }: Counters,
  { settings, now }: { settings: LimitSettings; now: number },
) {
  const { limits, coolDownMs } = settings;

  return {
    /** Counts one message, or says why it may not leave. Of several reasons, the one that lasts longest. */
    reserve(): Denial | Reservation {
      clampToNow();
      const counts = phone.read(records);
      const networkCounts = network?.read(records);
      const total = limits.total === undefined ? [] : readTotal(records);
      if (isAhead([total], now)) changeTotal((events, windowMs) => recent(events, windowMs, now));
      const streak = streakOf(counts, settings, now);
      const failureLimit = { max: limits.failuresPerPhone, windowMs: failureWindowMs };
      const [longest] = [
        overRate('phone', counts.messages, limits.phone, now),
        overRate('failuresPerPhone', counts.failures, failureLimit, now),
        networkCounts && overRate('ip', networkCounts.messages, limits.ip, now),
        networkCounts && overUnconfirmed(networkCounts, limits.unconfirmedPerIp, now),
        limits.total && overRate('total', total, limits.total, now),
        coolingDown(counts, coolDownOf(coolDownMs, streak), now),
      ]
        .filter((denial) => denial !== undefined)
        .sort((one, other) => other.retryAfterMs - one.retryAfterMs);
      if (longest !== undefined) return longest;

      writePhone({
        ...counts,
        messages: withEvent(counts.messages, limits.phone.windowMs, now),
        streak: streak + 1,
        lastMessageAt: now,
      });
      changeNetwork(({ messages, attempted }) => ({
        messages: withEvent(messages, limits.ip.windowMs, now),
        attempted: withEvent(attempted, limits.unconfirmedPerIp.windowMs, now),
      }));
      changeTotal((events, windowMs) => withEvent(events, windowMs, now));
      const nextAt = now + coolDownOf(coolDownMs, streak + 1);
      return { at: now, nextAt, lastMessageAt: counts.lastMessageAt };
    },

    /** For a message that has not left. */
    giveBack({ at, lastMessageAt }: Reservation): void {
      const counts = phone.read(records);
      // Another message may have left since: then its cool-down stays.
      const isLast = counts.lastMessageAt === at;
      writePhone({
        ...counts,
        messages: withoutEvent(counts.messages, limits.phone.windowMs, at),
        streak: Math.max(0, counts.streak - 1),
        lastMessageAt: isLast ? lastMessageAt : counts.lastMessageAt,
      });
      changeNetwork(({ messages, attempted }) => ({
        messages: withoutEvent(messages, limits.ip.windowMs, at),
        attempted: withoutEvent(attempted, limits.unconfirmedPerIp.windowMs, at),
      }));
      changeTotal((events, windowMs) => withoutEvent(events, windowMs, at));
    },

    denyCheck(): Denial | undefined {
      clampToNow();
      return network && overRate('ip', network.read(records).failures, limits.ip, now);
    },

    /** Counts for the network, and for the phone number if the code was compared. */
    countFailure({ wasCompared }: { wasCompared: boolean }): void {
      if (wasCompared) {
        const counts = phone.read(records);
        writePhone({ ...counts, failures: withEvent(counts.failures, failureWindowMs, now) });
      }
      changeNetwork(({ failures }) => ({ failures: withEvent(failures, limits.ip.windowMs, now) }));
    },

    /** After a right code neither failures nor cool-down count any more (NIST SP 800-63B-4, 3.2.2). */
    confirm(): void {
      writePhone({ ...phone.read(records), failures: [], streak: 0, lastMessageAt: 0 });
    },
  };

  /**
   * If the clock moved back, treats future events as happening now, and stores that: otherwise their windows would
   * never end.
   */
  function clampToNow(): void {
    const counts = phone.read(records);
    if (counts.lastMessageAt > now || isAhead([counts.messages, counts.failures], now)) {
      writePhone({ ...counts, lastMessageAt: Math.min(counts.lastMessageAt, now) });
    }
    if (network !== undefined && isAhead(Object.values(network.read(records)), now))
      changeNetwork(() => ({}));
  }

  function writePhone(counts: PhoneCounts): void {
    const { windowMs } = limits.phone;
    const kept = {
      ...counts,
      messages: recent(counts.messages, windowMs, now),
      failures: recent(counts.failures, failureWindowMs, now),
    };
    // Until the cool-down is forgotten too (`streakOf`).
    const streakMs = coolDownOf(coolDownMs, counts.streak) + windowMs;
    phone.write(records, kept, now + Math.max(streakMs, failureWindowMs));
  }

  function changeNetwork(change: (counts: NetworkCounts) => Partial<NetworkCounts>): void {
    if (network === undefined) return;
    const counts = network.read(records);
    writeNetwork(records, network, { counts: { ...counts, ...change(counts) }, settings, now });
  }

  function changeTotal(change: (events: EventWindow, windowMs: number) => EventWindow): void {
    if (limits.total === undefined) return;
    const { windowMs } = limits.total;
    writeTotal(records, change(readTotal(records), windowMs), now + windowMs);
  }
}

export function creditConfirmations(
  records: RecordSet,
  network: Counter<NetworkCounts>,
  { settings, now, messages }: { settings: LimitSettings; now: number; messages: number },
): void {
  const counts = network.read(records);
  const { windowMs } = settings.limits.unconfirmedPerIp;
  const confirmed = withEvent(counts.confirmed, windowMs, now, messages);
  writeNetwork(records, network, { counts: { ...counts, confirmed }, settings, now });
}

function writeNetwork(
  records: RecordSet,
  network: Counter<NetworkCounts>,
  { counts, settings, now }: { counts: NetworkCounts; settings: LimitSettings; now: number },
): void {
  const { ip, unconfirmedPerIp } = settings.limits;
  const kept = {
    messages: recent(counts.messages, ip.windowMs, now),
    failures: recent(counts.failures, ip.windowMs, now),
    attempted: recent(counts.attempted, unconfirmedPerIp.windowMs, now),
    confirmed: recent(counts.confirmed, unconfirmedPerIp.windowMs, now),
  };
  network.write(records, kept, now + Math.max(ip.windowMs, unconfirmedPerIp.windowMs));
}

function isAhead(windows: readonly EventWindow[], now: number): boolean {
  return windows.some((events) => (events.at(-1)?.[0] ?? 0) > now);
}
