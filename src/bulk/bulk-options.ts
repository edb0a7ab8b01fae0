import type { MessengerClient } from '../messenger/messenger-client.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkFunction, checkInteger, checkOneOf, invalidOption } from '../options/check-values.ts';
import { normalizePhone } from '../phone/normalize-phone.ts';
import { longestTimerMs } from '../runtime/longest-timer.ts';
import { type Sleep, sleep } from '../runtime/sleep.ts';
import { checkStore } from '../store/check-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { BulkProgress } from './bulk-progress.ts';
import type { BulkRow } from './bulk-row.ts';

/** What a second run may send again. */
export type BulkRepeat = 'not-sent' | 'refused' | 'unknown';

/** Sends messages; a `MessengerClient` with an API key is one. */
export type BulkDevice = Pick<MessengerClient, 'sendMessage'>;

export interface BulkOptions {
  /** One device or several; each is a `MessengerClient` with the API key of a paired device. */
  messenger: BulkDevice | readonly BulkDevice[];
  /** They are read as they are needed, so they may be more than fit into memory. */
  rows: Iterable<BulkRow> | AsyncIterable<BulkRow>;
  /** Remembers which numbers were sent to: as durable as you need the promise to be. */
  store: RecordStore;
  /** Names what is sent: within one campaign no number gets a message twice, in any run and any process. */
  campaign: string;
  /** The pace of each device; fractions are allowed. The contract names no limit (ledger: `request-limits`). @default 1 */
  messagesPerSecond?: number | undefined;
  /** Most requests under way at once, for each device. @default 1 */
  concurrency?: number | undefined;
  /** So many failures in a row end the run. @default 10 */
  stopAfterFailures?: number | undefined;
  /**
   * What is sent again when a row comes up that was tried before. With `unknown` a number may get a message twice.
   * @default ['not-sent']
   */
  repeat?: readonly BulkRepeat[] | undefined;
  /** Checks every row, and sends and stores nothing: good rows are `not_sent`. It keeps a digest of each number in memory. @default false */
  dryRun?: boolean | undefined;
  /** Country of numbers without `+`, as two capital letters (ISO 3166-1). @default none: such numbers are invalid */
  country?: string | undefined;
  /** How many rows there are, for the time left. @default the length of `rows`, if it is an array */
  total?: number | undefined;
  /**
   * How long another process may take for a message before it counts as dead, and its message as `unknown`, in
   * milliseconds. Longer than the messenger's `totalTimeoutMs`. @default 120000
   */
  leaseMs?: number | undefined;
  /**
   * How long numbers are remembered, in milliseconds since they were last tried; afterwards a run would send to them
   * again. @default for ever
   */
  rememberMs?: number | undefined;
  /** When it is aborted, messages under way are finished, and the iteration throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with a result, at most once a second, and at the end. Nothing waits for it; if it throws, that becomes a process warning. */
  onProgress?: ((progress: BulkProgress) => unknown) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** @default setTimeout */
  sleep?: Sleep | undefined;
}

const names: OptionNames<BulkOptions> = {
  messenger: true,
  rows: true,
  store: true,
  campaign: true,
  messagesPerSecond: true,
  concurrency: true,
  stopAfterFailures: true,
  repeat: true,
  dryRun: true,
  country: true,
  total: true,
  leaseMs: true,
  rememberMs: true,
  signal: true,
  onProgress: true,
  now: true,
  sleep: true,
};

const defaults = Object.freeze({
  messagesPerSecond: 1,
  concurrency: 1,
  stopAfterFailures: 10,
  repeat: ['not-sent'] as readonly BulkRepeat[],
  dryRun: false,
  leaseMs: 120_000,
  now: Date.now,
  sleep,
});

export type ResolvedBulkOptions = ReturnType<typeof resolveBulkOptions>;

/** @throws {ConfigurationError} `invalid_option` */
export function resolveBulkOptions(options: BulkOptions) {
  checkNames('sendBulk', options, names);
  const { rows, campaign, signal, onProgress, country } = options;
  const devices = isList(options.messenger) ? [...options.messenger] : [options.messenger];
  if (devices.length === 0 || devices.some((device) => typeof device?.sendMessage !== 'function')) {
    throw invalidOption('messenger must be a MessengerClient, or a list of them.');
  }
  if (typeof campaign !== 'string' || campaign.trim() === '' || !campaign.isWellFormed())
    throw invalidOption('campaign must be a name.');
  if (!isRows(rows)) throw invalidOption('rows must be iterable.');
  const rate = options.messagesPerSecond ?? defaults.messagesPerSecond;
  if (typeof rate !== 'number' || !(rate > 0) || rate > 1000 || 1000 / rate > longestTimerMs) {
    throw invalidOption('messagesPerSecond must be a number above 0, and at most 1000.');
  }
  const repeat = options.repeat ?? defaults.repeat;
  if (!Array.isArray(repeat)) throw invalidOption('repeat must be a list.');
  for (const one of repeat) checkOneOf('repeat', one, ['not-sent', 'refused', 'unknown']);
  // Refuses an unknown country now, not at the first row.
  if (country !== undefined) checkCountry(country);
  const dryRun = options.dryRun ?? defaults.dryRun;
  if (typeof dryRun !== 'boolean') throw invalidOption('dryRun must be true or false.');
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidOption('signal must be an AbortSignal.');
  }
  if (onProgress !== undefined) checkFunction('onProgress', onProgress);
  const total = options.total ?? (Array.isArray(rows) ? rows.length : undefined);
  return Object.freeze({
    devices,
    rows,
    store: checkStore(options.store),
    campaign,
    intervalMs: 1000 / rate,
    concurrency: checkInteger('concurrency', options.concurrency ?? defaults.concurrency, { most: 1000 }),
    stopAfterFailures: checkInteger(
      'stopAfterFailures',
      options.stopAfterFailures ?? defaults.stopAfterFailures,
    ),
    repeat: new Set<string>(repeat),
    dryRun,
    country,
    total: total === undefined ? undefined : checkInteger('total', total, { least: 0 }),
    leaseMs: checkInteger('leaseMs', options.leaseMs ?? defaults.leaseMs, { least: 1000 }),
    rememberMs: options.rememberMs === undefined ? undefined : checkInteger('rememberMs', options.rememberMs),
    signal,
    onProgress,
    now: checkFunction('now', options.now ?? defaults.now),
    sleep: checkFunction('sleep', options.sleep ?? defaults.sleep),
  });
}

function checkCountry(country: string): void {
  normalizePhone('+12025550123', { country });
}

function isList(value: BulkDevice | readonly BulkDevice[]): value is readonly BulkDevice[] {
  return Array.isArray(value);
}

function isRows(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}
