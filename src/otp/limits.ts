import type { RecordSet } from '../store/record-store.ts';
import {
  type Counter,
  type NetworkCounts,
  type PhoneCounts,
  readTotal,
  totalKey,
  writeTotal,
} from './counters.ts';
import { coolDownOf, coolingDown, type Denial, overRate, overUnconfirmed, seriesOf } from './denials.ts';
import { type EventWindow, recent, withEvent, withoutEvent } from './event-window.ts';
import type { RateLimit } from './limit-options.ts';
import type { ResolvedOtpOptions } from './otp-options.ts';

/** The counters that a call touches. */
export interface Counters {
  readonly phone: Counter<PhoneCounts>;
  /** Where the caller gave an address. */
  readonly network: Counter<NetworkCounts> | undefined;
}

/** How a message was counted, so that it can be given back. */
export interface Reservation {
  readonly at: number;
  /** When the next message to this phone number may leave. */
  readonly nextAt: number;
  readonly lastMessageAt: number;
}

type LimitOptions = Pick<ResolvedOtpOptions, 'limits' | 'coolDownMs'>;

/** NIST counts failures in a row, whenever they were; a day keeps a number from being locked for good. */
const failureWindowMs = 86_400_000;

/** What a transaction that counts attempts has to name. */
export function attemptKeys({ phone, network }: Counters): string[] {
  return [...phone.keys, ...(network?.keys ?? [])];
}

/** What a transaction that counts messages has to name. */
export function messageKeys(counters: Counters, { limits }: LimitOptions): string[] {
  return [...attemptKeys(counters), ...(limits.total === undefined ? [] : [totalKey])];
}

/** Counts one message, or says why it may not leave. Of several reasons, the one that lasts longest. */
export function reserveMessage(
  records: RecordSet,
  { phone, network }: Counters,
  { options, now }: { options: LimitOptions; now: number },
): Denial | Reservation {
  const { limits, coolDownMs } = options;
  rewind(records, { phone, network }, { options, now });
  const counts = phone.read(records);
  const networkCounts = network?.read(records);
  const total = limits.total === undefined ? [] : readTotal(records);
  if (limits.total !== undefined && isAhead([total], now)) {
    writeTotal(records, recent(total, limits.total.windowMs, now), now + limits.total.windowMs);
  }
  const series = seriesOf(counts, options, now);
  const denials = [
    overRate('phone', counts.messages, limits.phone, now),
    overRate('failuresPerPhone', counts.failures, failureLimit(limits.failuresPerPhone), now),
    networkCounts && overRate('ip', networkCounts.messages, limits.ip, now),
    networkCounts && overUnconfirmed(networkCounts, limits.unconfirmedPerIp, now),
    limits.total && overRate('total', total, limits.total, now),
    coolingDown(counts, coolDownOf(coolDownMs, series), now),
  ].filter((denial) => denial !== undefined);
  const [longest] = denials.sort((one, other) => other.retryAfterMs - one.retryAfterMs);
  if (longest !== undefined) return longest;

  writePhone(records, phone, {
    counts: {
      messages: withEvent(counts.messages, limits.phone.windowMs, now),
      failures: counts.failures,
      series: series + 1,
      lastMessageAt: now,
    },
    options,
    now,
  });
  if (network !== undefined && networkCounts !== undefined) {
    writeNetwork(records, network, {
      counts: {
        ...networkCounts,
        messages: withEvent(networkCounts.messages, limits.ip.windowMs, now),
        attempted: withEvent(networkCounts.attempted, limits.unconfirmedPerIp.windowMs, now),
      },
      options,
      now,
    });
  }
  if (limits.total !== undefined) {
    writeTotal(records, withEvent(total, limits.total.windowMs, now), now + limits.total.windowMs);
  }
  return { at: now, nextAt: now + coolDownOf(coolDownMs, series + 1), lastMessageAt: counts.lastMessageAt };
}

/** Takes back a message that has not left. */
export function giveBack(
  records: RecordSet,
  { phone, network }: Counters,
  { options, reservation, now }: { options: LimitOptions; reservation: Reservation; now: number },
): void {
  const { limits } = options;
  const { at } = reservation;
  const counts = phone.read(records);
  // Another message may have left since: then its cool-down stays.
  const isLast = counts.lastMessageAt === at;
  writePhone(records, phone, {
    counts: {
      ...counts,
      messages: withoutEvent(counts.messages, limits.phone.windowMs, at),
      series: Math.max(0, counts.series - 1),
      lastMessageAt: isLast ? reservation.lastMessageAt : counts.lastMessageAt,
    },
    options,
    now,
  });
  if (network !== undefined) {
    const networkCounts = network.read(records);
    writeNetwork(records, network, {
      counts: {
        ...networkCounts,
        messages: withoutEvent(networkCounts.messages, limits.ip.windowMs, at),
        attempted: withoutEvent(networkCounts.attempted, limits.unconfirmedPerIp.windowMs, at),
      },
      options,
      now,
    });
  }
  if (limits.total !== undefined) {
    writeTotal(
      records,
      withoutEvent(readTotal(records), limits.total.windowMs, at),
      now + limits.total.windowMs,
    );
  }
}

/** Whether this network may try no more codes for now. */
export function deniedCheck(
  records: RecordSet,
  counters: Counters,
  { options, now }: { options: LimitOptions; now: number },
): Denial | undefined {
  rewind(records, counters, { options, now });
  const { network } = counters;
  return network && overRate('ip', network.read(records).failures, options.limits.ip, now);
}

/** Counts a code that was not accepted: for its network, and for the phone number if it was compared. */
export function countFailure(
  records: RecordSet,
  { phone, network }: Counters,
  { options, now, wasCompared }: { options: LimitOptions; now: number; wasCompared: boolean },
): void {
  if (wasCompared) {
    const counts = phone.read(records);
    const failures = withEvent(counts.failures, failureWindowMs, now);
    writePhone(records, phone, { counts: { ...counts, failures }, options, now });
  }
  if (network === undefined) return;
  const counts = network.read(records);
  const failures = withEvent(counts.failures, options.limits.ip.windowMs, now);
  writeNetwork(records, network, { counts: { ...counts, failures }, options, now });
}

/** After a right code neither failures nor cool-down count any more (NIST SP 800-63B-4, 3.2.2). */
export function confirmPhone(
  records: RecordSet,
  { phone }: Counters,
  { options, now }: { options: LimitOptions; now: number },
): void {
  const counts = { ...phone.read(records), failures: [], series: 0, lastMessageAt: 0 };
  writePhone(records, phone, { counts, options, now });
}

/** Credits a network with messages whose code was confirmed. */
export function creditNetwork(
  records: RecordSet,
  network: Counter<NetworkCounts>,
  { options, now, messages }: { options: LimitOptions; now: number; messages: number },
): void {
  const counts = network.read(records);
  const { windowMs } = options.limits.unconfirmedPerIp;
  const confirmed = withEvent(counts.confirmed, windowMs, now, messages);
  writeNetwork(records, network, { counts: { ...counts, confirmed }, options, now });
}

/**
 * After the clock was set back, what seems to have happened in the future happened now: it still counts, and ends some
 * day. Stored, or it would begin anew with each call.
 */
function rewind(
  records: RecordSet,
  { phone, network }: Counters,
  { options, now }: { options: LimitOptions; now: number },
): void {
  const counts = phone.read(records);
  if (counts.lastMessageAt > now || isAhead([counts.messages, counts.failures], now)) {
    const lastMessageAt = Math.min(counts.lastMessageAt, now);
    writePhone(records, phone, { counts: { ...counts, lastMessageAt }, options, now });
  }
  if (network !== undefined) {
    const { messages, failures, attempted, confirmed } = network.read(records);
    if (isAhead([messages, failures, attempted, confirmed], now)) {
      writeNetwork(records, network, { counts: { messages, failures, attempted, confirmed }, options, now });
    }
  }
}

function isAhead(windows: readonly EventWindow[], now: number): boolean {
  return windows.some((events) => (events.at(-1)?.[0] ?? 0) > now);
}

function writePhone(
  records: RecordSet,
  phone: Counter<PhoneCounts>,
  { counts, options, now }: { counts: PhoneCounts; options: LimitOptions; now: number },
): void {
  const { windowMs } = options.limits.phone;
  const kept = {
    ...counts,
    messages: recent(counts.messages, windowMs, now),
    failures: recent(counts.failures, failureWindowMs, now),
  };
  // Until the cool-down is forgotten too (`seriesOf`).
  const seriesMs = coolDownOf(options.coolDownMs, counts.series) + windowMs;
  phone.write(records, kept, now + Math.max(seriesMs, failureWindowMs));
}

function writeNetwork(
  records: RecordSet,
  network: Counter<NetworkCounts>,
  { counts, options, now }: { counts: NetworkCounts; options: LimitOptions; now: number },
): void {
  const { ip, unconfirmedPerIp } = options.limits;
  const kept = {
    messages: recent(counts.messages, ip.windowMs, now),
    failures: recent(counts.failures, ip.windowMs, now),
    attempted: recent(counts.attempted, unconfirmedPerIp.windowMs, now),
    confirmed: recent(counts.confirmed, unconfirmedPerIp.windowMs, now),
  };
  network.write(records, kept, now + Math.max(ip.windowMs, unconfirmedPerIp.windowMs));
}

function failureLimit(max: number): RateLimit {
  return { max, windowMs: failureWindowMs };
}
