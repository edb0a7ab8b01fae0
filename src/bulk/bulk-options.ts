import type { MessengerClient } from '../client/messenger-client.ts';
import { type Sleep, sleep } from '../internal/backoff.ts';
import { longestTimerMs } from '../internal/deadline.ts';
import {
  abortSignal,
  callback,
  defineOptions,
  flag,
  integer,
  invalidOption,
  list,
  type OptionTable,
  oneOf,
  optional,
  value,
} from '../internal/options.ts';
import { checkCountry, checkPrefixes } from '../internal/phone.ts';
import { checkStore, type RecordStore } from '../store/record-store.ts';
import type { BulkProgress } from './bulk-progress.ts';
import type { BulkRow } from './bulk-rows.ts';

/** What a second run may send again. @inline */
export type BulkRepeat = 'not-sent' | 'refused' | 'unknown';

/** Sends messages; a `MessengerClient` with an API key is one. @inline */
export type BulkDevice = Pick<MessengerClient, 'sendMessage'>;

/** Options of {@link sendBulk}. */
export interface BulkOptions {
  /** One device or several; each is a `MessengerClient` with the API key of a paired device. */
  messenger: BulkDevice | readonly BulkDevice[];
  /** Read as they are needed, so they need not fit into memory. */
  rows: Iterable<BulkRow> | AsyncIterable<BulkRow>;
  /** Remembers which numbers were sent to; choose one as durable as you need. */
  store: RecordStore;
  /** Names what is sent: within one campaign no number gets a message twice, in any run and any process. */
  campaign: string;
  /** The pace of each device; fractions are allowed. The contract names no limit (ledger: `request-limits`). @default 1 */
  messagesPerSecond?: number | undefined;
  /** Requests under way at once, for each device. @default 1 */
  concurrency?: number | undefined;
  /** Failures in a row that end the run. @default 10 */
  stopAfterFailures?: number | undefined;
  /**
   * Which earlier outcomes are sent again. With `unknown` a number may get a message twice.
   * @default ['not-sent']
   */
  repeat?: readonly BulkRepeat[] | undefined;
  /** Checks every row, and sends and stores nothing: good rows are `not-sent`. Keeps a digest of each number in memory. @default false */
  dryRun?: boolean | undefined;
  /** Country of numbers without `+`, as two capital letters (ISO 3166-1). @default none: such numbers are invalid */
  country?: string | undefined;
  /**
   * How phone numbers must begin (`['+234', '+1415']`), or `'any'`: other rows are `invalid`. A message to an expensive
   * country costs you.
   * @default 'any'
   */
  allowedPrefixes?: readonly string[] | 'any' | undefined;
  /** How many rows there are, for the time left. @default the length of `rows`, if it is an array */
  total?: number | undefined;
  /**
   * Milliseconds after which a message that another process is sending becomes `unknown`. Must be longer than the
   * messenger's `totalTimeoutMs`. @default 120000
   */
  leaseMs?: number | undefined;
  /**
   * Milliseconds for which a number is remembered after its message was settled, or after `leaseMs` if its process died.
   * A later run would send to it again. @default for ever
   */
  rememberMs?: number | undefined;
  /** When it is aborted, messages under way are finished, and the iteration throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called at most once a second, and at the end. Nothing waits for it; if it throws, that becomes a process warning. */
  onProgress?: ((progress: BulkProgress) => unknown) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
  /** @default setTimeout */
  sleep?: Sleep | undefined;
}

/** @throws {ConfigurationError} `invalid_option` */
export const readBulkOptions = defineOptions('sendBulk', {
  messenger: checkDevices,
  rows: checkRows,
  store: checkStore,
  campaign: checkCampaign,
  messagesPerSecond: value(checkRate, { default: 1 }),
  concurrency: integer({ default: 1, most: 1000 }),
  stopAfterFailures: integer({ default: 10 }),
  repeat: list(oneOf(['not-sent', 'refused', 'unknown']), { default: ['not-sent'] }),
  dryRun: flag({ default: false }),
  country: checkCountry,
  allowedPrefixes: value(checkPrefixes, { default: 'any' }),
  total: optional(integer({ least: 0 })),
  leaseMs: integer({ default: 120_000, least: 1000 }),
  rememberMs: optional(integer()),
  signal: abortSignal(),
  onProgress: optional(callback<NonNullable<BulkOptions['onProgress']>>()),
  now: callback({ default: Date.now }),
  sleep: callback({ default: sleep }),
} satisfies OptionTable<BulkOptions>);

export type BulkSettings = ReturnType<typeof readBulkOptions>;

function checkDevices(messenger: unknown): readonly BulkDevice[] {
  // Sound as far as it is checked below: what sendMessage takes and returns cannot be.
  const devices = [messenger].flat() as BulkDevice[];
  if (devices.length > 0 && devices.every((device) => typeof device?.sendMessage === 'function')) {
    return devices;
  }
  throw invalidOption('messenger must be a MessengerClient, or a list of them.');
}

function checkRows(rows: unknown): BulkOptions['rows'] {
  // Sound: each row is checked when it is read.
  if (
    typeof rows === 'object' &&
    rows !== null &&
    (Symbol.asyncIterator in rows || Symbol.iterator in rows)
  ) {
    return rows as BulkOptions['rows'];
  }
  throw invalidOption('rows must be iterable.');
}

function checkCampaign(campaign: unknown): string {
  if (typeof campaign === 'string' && campaign.trim() !== '' && campaign.isWellFormed()) return campaign;
  throw invalidOption('campaign must be a name.');
}

function checkRate(rate: unknown): number {
  if (typeof rate === 'number' && rate > 0 && rate <= 1000 && 1000 / rate <= longestTimerMs) return rate;
  throw invalidOption('messagesPerSecond must be a number above 0, and at most 1000.');
}
