import { OtpError } from '../errors/errors.ts';
import type { RecordSet } from '../store/record-store.ts';
import { storedForm } from '../store/stored-form.ts';
import type { OtpLimit } from './otp-limit.ts';
import type { OtpSettings } from './otp-options.ts';
import { keyedHash } from './otp-secrets.ts';

/** Events in a window of time that begins with the first of them. */
type EventCount = readonly [since: number, count: number];

interface PhoneCounts {
  readonly messages: EventCount;
  /** Wrong codes since the last right one. */
  readonly failures: EventCount;
  /** 0 after a right code. */
  readonly lastMessageAt: number;
}

interface NetworkCounts {
  readonly messages: EventCount;
  /** Those whose code was typed in. */
  readonly confirmed: number;
}

const phoneForm = storedForm<PhoneCounts>('A count of codes', {
  messages: true,
  failures: true,
  lastMessageAt: true,
});
const networkForm = storedForm<NetworkCounts>('A count of codes', { messages: true, confirmed: true });

/** NIST counts failures in a row without a time limit; after a day a locked number is free again. */
const failureWindowMs = 86_400_000;

/** So that a message can be given back. */
export interface Reservation {
  readonly at: number;
  /** When the next message to this phone number may leave. */
  readonly nextAt: number;
  readonly lastMessageAt: number;
}

/**
 * The keys of the counts of a phone number and of a network. They hold a hash under the newest secret: the counts start
 * anew when the secret is rotated.
 */
export function counterKeys(
  { secrets: [newest] }: Pick<OtpSettings, 'secrets'>,
  { to_phone, network }: { to_phone: string; network?: string | undefined },
) {
  const keyOf = (kind: 'phone' | 'ip', value: string) =>
    `otp:${kind}:${keyedHash(newest, kind, value).toString('base64url')}`;
  const phone = keyOf('phone', to_phone);
  if (network === undefined) return { phone, network, all: [phone] };
  const networkKey = keyOf('ip', network);
  return { phone, network: networkKey, all: [phone, networkKey] };
}

/** The limits within one transaction. An error is returned, not thrown, so that what was counted is written. */
export function limitsOf(
  records: RecordSet,
  keys: ReturnType<typeof counterKeys>,
  { settings, now }: { settings: Pick<OtpSettings, 'limits' | 'cooldownMs'>; now: number },
) {
  const { limits, cooldownMs } = settings;
  const { messagesPerPhone: perPhone, unconfirmedPerIp: perIp } = limits;

  return {
    /** Counts one message, or says why it may not leave. Of several reasons, the one that lasts longest. */
    reserve(): OtpError | Reservation {
      const { phone, network } = readCounts();
      const { messages, confirmed } = network;
      const [, ofPhone] = phone.messages;
      const [, failures] = phone.failures;
      const [, ofNetwork] = messages;
      const [longest] = [
        ofPhone >= perPhone.max &&
          limitReached('messagesPerPhone', leftMs(phone.messages, perPhone.windowMs)),
        failures >= limits.failuresPerPhone &&
          limitReached('failuresPerPhone', leftMs(phone.failures, failureWindowMs)),
        ofNetwork - confirmed >= perIp.floor &&
          confirmed < perIp.ratio * ofNetwork &&
          limitReached('unconfirmedPerIp', leftMs(messages, perIp.windowMs)),
        phone.lastMessageAt + cooldownMs > now && coolingDown(phone.lastMessageAt + cooldownMs - now),
      ]
        .filter((denial) => denial !== false)
        .sort((denial, other) => (other.retryAfterMs ?? 0) - (denial.retryAfterMs ?? 0));
      if (longest !== undefined) {
        // If the clock moved back, windows of the future begin now; unless this is stored, they never end.
        writeCounts({ phone, network });
        return longest;
      }
      writeCounts({
        phone: { ...phone, messages: add(phone.messages), lastMessageAt: now },
        network: { confirmed, messages: add(messages) },
      });
      return { at: now, nextAt: now + cooldownMs, lastMessageAt: phone.lastMessageAt };
    },

    /** Gives back the counts of a message that has not left. */
    giveBack({ at, lastMessageAt }: Reservation): void {
      const { phone, network } = readCounts();
      // Another message may have left since: then its cool-down stays. The clock may have moved back.
      const isLast = phone.lastMessageAt === Math.min(at, now);
      writeCounts({
        phone: {
          ...phone,
          messages: takeBack(phone.messages, at),
          lastMessageAt: isLast ? lastMessageAt : phone.lastMessageAt,
        },
        network: { ...network, messages: takeBack(network.messages, at) },
      });
    },

    countFailure(): void {
      const { phone, network } = readCounts();
      writeCounts({ phone: { ...phone, failures: add(phone.failures) }, network });
    },

    /** After a right code neither failures nor cool-down count any more (NIST SP 800-63B-4, 3.2.2). */
    confirm(): void {
      const { phone, network } = readCounts();
      writeCounts({ phone: { ...phone, failures: none, lastMessageAt: 0 }, network });
    },

    /** Counts the messages of a confirmed code for the network that asked for them. */
    creditNetwork(count: number): void {
      const { phone, network } = readCounts();
      const confirmed = Math.min(network.messages[1], network.confirmed + count);
      writeCounts({ phone, network: { ...network, confirmed } });
    },
  };

  function readCounts(): { readonly phone: PhoneCounts; readonly network: NetworkCounts } {
    const phone = phoneForm.read(records.get(keys.phone));
    const network = keys.network === undefined ? undefined : networkForm.read(records.get(keys.network));
    const messages = current(network?.messages, perIp.windowMs);
    return {
      phone: {
        messages: current(phone?.messages, perPhone.windowMs),
        failures: current(phone?.failures, failureWindowMs),
        lastMessageAt: Math.min(phone?.lastMessageAt ?? 0, now),
      },
      network: { messages, confirmed: messages[1] === 0 ? 0 : (network?.confirmed ?? 0) },
    };
  }

  function writeCounts({ phone, network }: ReturnType<typeof readCounts>): void {
    const phoneMs = Math.max(perPhone.windowMs, failureWindowMs, cooldownMs);
    const record = phoneForm.write(phone, records.get(keys.phone));
    records.set(keys.phone, record, { expiresAt: now + phoneMs });
    if (keys.network === undefined) return;
    const networkRecord = networkForm.write(network, records.get(keys.network));
    records.set(keys.network, networkRecord, { expiresAt: now + perIp.windowMs });
  }

  /** What still counts; the future counts as now. */
  function current([since, count]: EventCount = none, windowMs: number): EventCount {
    return since + windowMs > now ? [Math.min(since, now), count] : none;
  }

  function add([since, count]: EventCount): EventCount {
    return [count === 0 ? now : since, count + 1];
  }

  function leftMs([since]: EventCount, windowMs: number): number {
    return since + windowMs - now;
  }
}

const none: EventCount = [0, 0];

/** @param at when the event was counted: it may be of an earlier window */
function takeBack([since, count]: EventCount, at: number): EventCount {
  return [since, since <= at ? Math.max(0, count - 1) : count];
}

function limitReached(limit: OtpLimit, retryAfterMs: number): OtpError {
  const what = `The limit "${limit}" is reached for another ${Math.ceil(retryAfterMs / 1000)} s.`;
  return new OtpError('limit_reached', what, { retryAfterMs, limit });
}

function coolingDown(retryAfterMs: number): OtpError {
  const what = `The phone number got a code a moment ago; wait another ${Math.ceil(retryAfterMs / 1000)} s.`;
  return new OtpError('cool_down', what, { retryAfterMs });
}
