import type { RecordSet } from '../store/record-store.ts';
import { storedForm } from '../store/stored-form.ts';
import { type EventWindow, recent, withEvent, withoutEvent } from './event-window.ts';
import type { OtpSettings } from './otp-options.ts';
import { keyedHash, type Secret } from './otp-secrets.ts';

/** What is counted of a phone number or of a network. */
export interface Counts extends Readonly<Record<EventKind, EventWindow>> {
  /** Messages to a phone number in a row since the last right code; they decide how long the cool-down is. */
  readonly streak: number;
  readonly lastMessageAt: number;
}

/**
 * `failures` are wrong codes; of a phone number only those since the last right one. `attempted` are the messages for a
 * network again, for the limit `unconfirmedPerIp`, whose window is another.
 */
type EventKind = 'messages' | 'failures' | 'attempted' | 'confirmed';

const countForm = storedForm<Counts>('A count of codes', {
  messages: true,
  failures: true,
  attempted: true,
  confirmed: true,
  streak: true,
  lastMessageAt: true,
});

export interface Counter {
  /** Hashes under each of the secrets, newest first, so that older counts still count after a rotation. */
  readonly keys: readonly [string, ...string[]];
  /** Milliseconds for which each kind of event counts; 0 if it is not counted. */
  readonly windows: Readonly<Record<EventKind, number>>;
}

/** The counters that a message or a check concerns. */
export interface Counters {
  readonly phone: Counter;
  readonly network: Counter | undefined;
}

/** NIST counts failures in a row without a time limit; after a day a locked number is free again. */
export const failureWindowMs = 86_400_000;

export function countersOf(
  { limits, secrets }: Pick<OtpSettings, 'limits' | 'secrets'>,
  { to_phone, network }: { to_phone: string; network: string | undefined },
): Counters {
  return {
    phone: {
      keys: keysOf(secrets, 'phone', to_phone),
      windows: { messages: limits.phone.windowMs, failures: failureWindowMs, attempted: 0, confirmed: 0 },
    },
    network: network === undefined ? undefined : networkCounter(limits, keysOf(secrets, 'ip', network)),
  };
}

export function networkCounter(
  { ip, unconfirmedPerIp: { windowMs } }: OtpSettings['limits'],
  keys: Counter['keys'],
): Counter {
  return {
    keys,
    windows: { messages: ip.windowMs, failures: ip.windowMs, attempted: windowMs, confirmed: windowMs },
  };
}

/** The keys that a transaction about these needs. */
export function keysOfCounters({ phone, network }: Counters): string[] {
  return [...phone.keys, ...(network?.keys ?? [])];
}

function keysOf([newest, ...older]: OtpSettings['secrets'], kind: 'phone' | 'ip', value: string) {
  const keyOf = (secret: Secret) => `otp:${kind}:${keyedHash(secret, kind, value).toString('base64url')}`;
  return [keyOf(newest), ...older.map(keyOf)] as const;
}

/** A counter within one transaction. */
export function openCounter(
  records: RecordSet,
  { keys, windows }: Counter,
  { settings, now }: { settings: Pick<OtpSettings, 'coolDownMs'>; now: number },
) {
  const [newest, ...older] = keys;

  /** What still counts under any of the secrets; the future counts as now. */
  function read(): Counts {
    const stored = keys.flatMap((key) => countForm.read(records.get(key)) ?? []);
    const lastMessageAt = Math.max(0, ...stored.map((counts) => counts.lastMessageAt));
    let latest = lastMessageAt;
    const window = (kind: EventKind) => {
      const events = stored.flatMap((counts) => counts[kind]).sort(([one], [other]) => one - other);
      latest = Math.max(latest, events.at(-1)?.[0] ?? 0);
      return recent(events, windows[kind], now);
    };
    const counts = {
      messages: window('messages'),
      failures: window('failures'),
      attempted: window('attempted'),
      confirmed: window('confirmed'),
      streak: stored.reduce((sum, { streak }) => sum + streak, 0),
      lastMessageAt: Math.min(lastMessageAt, now),
    };
    // The clock moved back. Unless this is stored, the windows of future events never end.
    if (latest > now) write(counts);
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
