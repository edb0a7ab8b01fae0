import type { RecordSet } from '../store/record-store.ts';
import { storedForm } from '../store/stored-form.ts';
import { type EventWindow, recent, withEvent, withoutEvent } from './event-window.ts';
import type { OtpSettings } from './otp-options.ts';
import { keyedHash } from './otp-secrets.ts';

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
  /** Holds a hash under the newest secret: the counts start anew when the secret is rotated. */
  readonly key: string;
  /** Milliseconds for which each kind of event counts; 0 if it is not counted. */
  readonly windows: Readonly<Record<EventKind, number>>;
}

/** NIST counts failures in a row without a time limit; after a day a locked number is free again. */
export const failureWindowMs = 86_400_000;

type CounterSettings = Pick<OtpSettings, 'limits' | 'secrets'>;

export function phoneCounter({ limits, secrets }: CounterSettings, to_phone: string): Counter {
  const { windowMs: messages } = limits.phone;
  const windows = { messages, failures: failureWindowMs, attempted: 0, confirmed: 0 };
  return { key: counterKey(secrets, 'phone', to_phone), windows };
}

export function networkCounter({ limits, secrets }: CounterSettings, network: string): Counter {
  const { windowMs } = limits.ip;
  const { windowMs: unconfirmedMs } = limits.unconfirmedPerIp;
  const windows = {
    ...{ messages: windowMs, failures: windowMs },
    ...{ attempted: unconfirmedMs, confirmed: unconfirmedMs },
  };
  return { key: counterKey(secrets, 'ip', network), windows };
}

function counterKey([newest]: OtpSettings['secrets'], kind: 'phone' | 'ip', value: string): string {
  return `otp:${kind}:${keyedHash(newest, kind, value).toString('base64url')}`;
}

/** A counter within one transaction. */
export function openCounter(
  records: RecordSet,
  { key, windows }: Counter,
  { settings, now }: { settings: Pick<OtpSettings, 'coolDownMs'>; now: number },
) {
  /** What still counts; the future counts as now. */
  function read(): Counts {
    const stored = countForm.read(records.get(key));
    const { lastMessageAt = 0, streak = 0 } = stored ?? {};
    let latest = lastMessageAt;
    const window = (kind: EventKind) => {
      const events = stored?.[kind] ?? [];
      latest = Math.max(latest, events.at(-1)?.[0] ?? 0);
      return recent(events, windows[kind], now);
    };
    const counts = {
      messages: window('messages'),
      failures: window('failures'),
      attempted: window('attempted'),
      confirmed: window('confirmed'),
      streak,
      lastMessageAt: Math.min(lastMessageAt, now),
    };
    // The clock moved back. Unless this is stored, the windows of future events never end.
    if (latest > now) write(counts);
    return counts;
  }

  function write(counts: Counts): void {
    // Until the cool-down is forgotten too (`streakOf`).
    const streakMs = coolDownOf(settings.coolDownMs, counts.streak) + windows.messages;
    const expiresAt = now + Math.max(streakMs, ...Object.values(windows));
    records.set(key, countForm.write(counts, records.get(key)), { expiresAt });
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
