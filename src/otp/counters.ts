import type { RecordSet } from '../store/record-store.ts';
import { type EventWindow, mergeEvents } from './event-window.ts';
import { keyedHash, type Secret } from './secrets.ts';

export interface PhoneCounts {
  readonly messages: EventWindow;
  /** Wrong codes since the last right one. */
  readonly failures: EventWindow;
  /** Messages in a row since the last right code; they decide how long the cool-down is. */
  readonly streak: number;
  readonly lastMessageAt: number;
}

/** An IPv4 address or a /64 of IPv6. */
export interface NetworkCounts {
  /** For the limit `ip`. */
  readonly messages: EventWindow;
  readonly failures: EventWindow;
  /** For the limit `unconfirmedPerIp`. */
  readonly attempted: EventWindow;
  readonly confirmed: EventWindow;
}

/**
 * The counts of a phone number or network. Their keys are hashes under each of the secrets, so that older counts
 * still count after a rotation.
 */
export interface Counter<Counts> {
  /** The newest first. */
  readonly keys: readonly [string, ...string[]];
  read(records: RecordSet): Counts;
  write(records: RecordSet, counts: Counts, expiresAt: number): void;
}

const noPhoneCounts: PhoneCounts = { messages: [], failures: [], streak: 0, lastMessageAt: 0 };
const noNetworkCounts: NetworkCounts = { messages: [], failures: [], attempted: [], confirmed: [] };

export function phoneCounter(secrets: readonly [Secret, ...Secret[]], phone: string): Counter<PhoneCounts> {
  return makeCounter(keysOf(secrets, 'phone', phone), noPhoneCounts, (one, other) => ({
    messages: mergeEvents(one.messages, other.messages),
    failures: mergeEvents(one.failures, other.failures),
    streak: one.streak + other.streak,
    lastMessageAt: Math.max(one.lastMessageAt, other.lastMessageAt),
  }));
}

export function networkCounter(
  secrets: readonly [Secret, ...Secret[]],
  network: string,
): Counter<NetworkCounts> {
  return networkCounterAt(keysOf(secrets, 'ip', network));
}

export function networkCounterAt(keys: readonly [string, ...string[]]): Counter<NetworkCounts> {
  return makeCounter(keys, noNetworkCounts, (one, other) => ({
    messages: mergeEvents(one.messages, other.messages),
    failures: mergeEvents(one.failures, other.failures),
    attempted: mergeEvents(one.attempted, other.attempted),
    confirmed: mergeEvents(one.confirmed, other.confirmed),
  }));
}

/** All messages, for the limit `total`. */
export const totalKey = 'otp:total';

export function readTotal(records: RecordSet): EventWindow {
  // Sound: only `writeTotal` writes it.
  return (records.get(totalKey) ?? []) as unknown as EventWindow;
}

export function writeTotal(records: RecordSet, events: EventWindow, expiresAt: number): void {
  records.set(totalKey, plainEvents(events), { expiresAt });
}

function keysOf(
  [newest, ...older]: readonly [Secret, ...Secret[]],
  kind: 'phone' | 'ip',
  value: string,
): readonly [string, ...string[]] {
  const keyOf = (secret: Secret) => `otp:${kind}:${keyedHash(secret, kind, value).toString('base64url')}`;
  return [keyOf(newest), ...older.map(keyOf)];
}

function makeCounter<Counts extends PhoneCounts | NetworkCounts>(
  keys: readonly [string, ...string[]],
  none: Counts,
  merge: (one: Counts, other: Counts) => Counts,
): Counter<Counts> {
  return {
    keys,
    read: (records) =>
      // Sound: only `write` below writes records under these keys.
      keys.reduce(
        (sum, key) => merge(sum, (records.get(key) as unknown as Counts | undefined) ?? none),
        none,
      ),
    write(records, counts, expiresAt) {
      const [newest, ...older] = keys;
      const plain = Object.entries(counts).map(([name, value]: [string, EventWindow | number]) => [
        name,
        typeof value === 'number' ? value : plainEvents(value),
      ]);
      records.set(newest, Object.fromEntries(plain), { expiresAt });
      for (const key of older) if (records.get(key) !== undefined) records.delete(key);
    },
  };
}

/** A copy, since the arrays of `JsonValue` are not read-only. */
function plainEvents(events: EventWindow): [number, number][] {
  return events.map(([at, count]) => [at, count]);
}
