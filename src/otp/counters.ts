import type { RecordSet } from '../store/record-store.ts';
import { storedForm } from '../store/stored-form.ts';
import { type EventWindow, mergeEvents, recent, withEvent, withoutEvent } from './event-window.ts';
import type { OtpSettings } from './otp-options.ts';
import { keyedHash, type Secret } from './otp-secrets.ts';

/** What is counted of a phone number or of a network. */
export interface Counts {
  readonly messages: EventWindow;
  /** Wrong codes; of a phone number only those since the last right one. */
  readonly failures: EventWindow;
  /** The messages for a network again, for the limit `unconfirmedPerIp`, whose window is another. */
  readonly attempted: EventWindow;
  readonly confirmed: EventWindow;
  /** Messages to a phone number in a row since the last right code; they decide how long the cool-down is. */
  readonly streak: number;
  readonly lastMessageAt: number;
}

const countForm = storedForm<Counts>('A count of codes', {
  messages: true,
  failures: true,
  attempted: true,
  confirmed: true,
  streak: true,
  lastMessageAt: true,
});

type EventKind = 'messages' | 'failures' | 'attempted' | 'confirmed';

export interface Counter {
  /** Hashes under each of the secrets, newest first, so that older counts still count after a rotation. */
  readonly keys: readonly [string, ...string[]];
  /** For how long each kind of event counts, in milliseconds; 0 if it is not counted. */
  readonly windows: Readonly<Record<EventKind, number>>;
}

/** The counters that a message or a check concerns. */
export interface Counters {
  readonly phone: Counter;
  readonly network: Counter | undefined;
}

type CounterSettings = Pick<OtpSettings, 'limits' | 'coolDownMs'>;

/** NIST counts failures in a row without a time limit; after a day a locked number is free again. */
export const failureWindowMs = 86_400_000;

const noWindows = { messages: 0, failures: 0, attempted: 0, confirmed: 0 };

export function countersOf(
  settings: Pick<OtpSettings, 'limits' | 'secrets'>,
  { phone, network }: { phone: string; network: string | undefined },
): Counters {
  const { limits, secrets } = settings;
  return {
    phone: {
      keys: keysOf(secrets, 'phone', phone),
      windows: { ...noWindows, messages: limits.phone.windowMs, failures: failureWindowMs },
    },
    network: network === undefined ? undefined : networkCounter(limits, keysOf(secrets, 'ip', network)),
  };
}

export function networkCounter(
  { ip, unconfirmedPerIp }: OtpSettings['limits'],
  keys: Counter['keys'],
): Counter {
  const { windowMs } = unconfirmedPerIp;
  return {
    keys,
    windows: { messages: ip.windowMs, failures: ip.windowMs, attempted: windowMs, confirmed: windowMs },
  };
}

function keysOf([newest, ...older]: OtpSettings['secrets'], kind: 'phone' | 'ip', value: string) {
  const keyOf = (secret: Secret) => `otp:${kind}:${keyedHash(secret, kind, value).toString('base64url')}`;
  return [keyOf(newest), ...older.map(keyOf)] as const;
}

/** A counter within one transaction. */
export function openCounter(
  records: RecordSet,
  { keys, windows }: Counter,
  { settings, now }: { settings: CounterSettings; now: number },
) {
  const [newest, ...older] = keys;

  function read(): Counts {
    const stored = keys.map((key) => countForm.read(records.get(key)));
    const all = stored.filter((counts) => counts !== undefined).reduce(mergeCounts, noCounts);
    const counts = countsAt(all, windows, now);
    // The clock moved back. Unless this is stored, the windows of future events never end.
    if (hasFuture(all, now)) write(counts);
    return counts;
  }

  function write(counts: Counts): void {
    // The newest secret's record counts, also in what a newer version knows of the number.
    const former = Object.assign({}, ...keys.toReversed().map((key) => records.get(key)));
    // Until the cool-down is forgotten too (`streakOf`).
    const streakMs = coolDownOf(settings.coolDownMs, counts.streak) + windows.messages;
    const expiresAt = now + Math.max(streakMs, ...Object.values(windows));
    records.set(newest, countForm.write(counts, former), { expiresAt });
    for (const key of older) if (records.get(key) !== undefined) records.delete(key);
  }

  return {
    read,
    change: (changed: Partial<Counts>) => write({ ...read(), ...changed }),
    add(kind: EventKind, count = 1): void {
      const counts = read();
      write({ ...counts, [kind]: withEvent(counts[kind], windows[kind], now, count) });
    },
    /** @param at when the event was added */
    takeBack(kind: EventKind, at: number): void {
      const counts = read();
      write({ ...counts, [kind]: withoutEvent(counts[kind], windows[kind], at) });
    },
  };
}

export function coolDownOf(coolDownMs: readonly number[], streak: number): number {
  return streak === 0 ? 0 : (coolDownMs[streak - 1] ?? coolDownMs.at(-1) ?? 0);
}

const noCounts: Counts = {
  messages: [],
  failures: [],
  attempted: [],
  confirmed: [],
  streak: 0,
  lastMessageAt: 0,
};

function mergeCounts(one: Counts, other: Counts): Counts {
  return {
    messages: mergeEvents(one.messages, other.messages),
    failures: mergeEvents(one.failures, other.failures),
    attempted: mergeEvents(one.attempted, other.attempted),
    confirmed: mergeEvents(one.confirmed, other.confirmed),
    streak: one.streak + other.streak,
    lastMessageAt: Math.max(one.lastMessageAt, other.lastMessageAt),
  };
}

/** What still counts; the future counts as now. */
function countsAt(counts: Counts, windows: Counter['windows'], now: number): Counts {
  return {
    messages: recent(counts.messages, windows.messages, now),
    failures: recent(counts.failures, windows.failures, now),
    attempted: recent(counts.attempted, windows.attempted, now),
    confirmed: recent(counts.confirmed, windows.confirmed, now),
    streak: counts.streak,
    lastMessageAt: Math.min(counts.lastMessageAt, now),
  };
}

function hasFuture(
  { messages, failures, attempted, confirmed, lastMessageAt }: Counts,
  now: number,
): boolean {
  const last = [messages, failures, attempted, confirmed].map((events) => events.at(-1)?.[0] ?? 0);
  return Math.max(lastMessageAt, ...last) > now;
}
