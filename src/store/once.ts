import { isStoreError, OnceError } from '../errors/errors.ts';
import { hash } from '../internal/hash.ts';
import type { JsonValue } from '../internal/json.ts';
import {
  callback,
  defineOptions,
  flag,
  integer,
  invalidOption,
  type OptionTable,
  optional,
  type Settings,
  text,
} from '../internal/options.ts';
import { isHeld, type Lease, takeLease } from './lease.ts';
import { checkStore, type RecordSet, type RecordStore } from './record-store.ts';
import { storedForm } from './stored-form.ts';
import { userTransactionOf } from './user-transaction.ts';

/** Options of {@link once}. */
export interface OnceOptions {
  /**
   * Milliseconds that `run` may take. Until then, or until its process has ended (as far as that can be told: on Linux, in
   * one container), a repetition is `in_progress`; after that a result that was not written is `unknown`. @default 60000
   */
  leaseMs?: number | undefined;
  /**
   * What a repetition's input may not differ in, such as the `crypto_txn_hash` of a credit: with another one it is
   * refused (`different_input`). Only a hash of it is kept. @default no comparison
   */
  fingerprint?: string | undefined;
  /** Whether repeating an effect whose result is unknown is harmless: then it is repeated. @default false */
  repeatUnknown?: boolean | undefined;
  /**
   * Whether the effect can have happened although `run` threw this. After `not-sent` and `refused` it has not, and a
   * repetition runs again. @default always 'unknown'
   */
  outcomeOf?: ((error: unknown) => 'not-sent' | 'refused' | 'unknown') | undefined;
  /** Milliseconds for which a result is kept; after that the key is new again. @default for good */
  rememberMs?: number | undefined;
  /** Milliseconds since 1970; decides when a lease ends. @default Date.now */
  now?: (() => number) | undefined;
}

/** What an effect returns: JSON data, or nothing. @useDeclaredType */
// biome-ignore lint/suspicious/noConfusingVoidType: the type of a function that returns nothing is `void`.
export type OnceResult = JsonValue | void;

/** Options of {@link settleOnce}. */
export type SettleOnceOptions = Pick<OnceOptions, 'rememberMs' | 'now'>;

const settleRows = {
  rememberMs: optional(integer()),
  now: callback({ default: Date.now }),
} satisfies OptionTable<SettleOnceOptions>;

const readOptions = defineOptions('once', {
  ...settleRows,
  leaseMs: integer({ default: 60_000 }),
  fingerprint: optional(text()),
  repeatUnknown: flag({ default: false }),
  outcomeOf: callback<NonNullable<OnceOptions['outcomeOf']>>({ default: () => 'unknown' }),
} satisfies OptionTable<OnceOptions>);

const readSettleOptions = defineOptions('settleOnce', settleRows);

/** The record of a key: who runs it and until when, or how it ended. */
interface Run {
  readonly state: 'running' | 'done' | 'unknown';
  /** While it is `running`. */
  readonly lease?: Lease;
  readonly result?: JsonValue | undefined;
  /** A hash of the fingerprint. */
  readonly input?: string | undefined;
}

const runForm = storedForm<Run>('The record of an effect', {
  state: true,
  lease: true,
  result: true,
  input: true,
});

/**
 * Runs an effect at most once for a key, in whichever process, and returns its stored result to every repetition: for
 * effects that are elsewhere, such as an e-mail or an entry in another system's ledger. (An effect in your own database
 * needs no more than a transaction: `context.handledIn`, or a row with the key.)
 *
 * If `run` throws, or its process dies, the effect may have happened: from then on the key is `unknown`, and nothing
 * repeats it by itself. Have a person look, and call {@link settleOnce}.
 *
 * @param key names the effect: `effectKey(event, context)`, and more if the event has several. Only a hash of it is kept
 * @param run returns JSON data, or nothing; it is kept, so return nothing personal
 * @returns what `run` returned, now or the first time
 * @throws {OnceError} `in_progress`, `unknown`, `different_input`
 * @throws {StoreError} if the result could not be written: then it is `unknown` once the lease has ended
 * @throws {ConfigurationError} `invalid_option`, also for a store in a transaction of yours, and for a result that is no
 *   JSON data
 * @throws what `run` throws
 * @example
 * ```ts
 * webhooks.on('event.buy.credited.crypto', async (event, context) => {
 *   const key = effectKey(event, context);
 *   if (key === undefined) throw new Error('The event names no order.');
 *   await once(store, `mail/${key}`, () => sendMail(event), { fingerprint: event.crypto_txn_hash });
 * });
 * ```
 */
export async function once<Result extends OnceResult>(
  store: RecordStore,
  key: string,
  run: () => Result | Promise<Result>,
  options: OnceOptions = {},
): Promise<Result> {
  const settings = readOptions(options);
  if (typeof run !== 'function') throw invalidOption('once needs a function that has the effect.');
  const record = recordKey(key);
  const input = settings.fingerprint === undefined ? undefined : sha256(settings.fingerprint);
  if (userTransactionOf(checkStore(store)) !== undefined)
    throw invalidOption(
      'once needs a store of its own transactions: a rollback of yours would have it run again.',
    );
  let lease: Lease | undefined;

  const earlier = await store
    .transact([record], (records) => {
      const found = runForm.read(records.get(record));
      if (found !== undefined)
        checkRepetition(found, { input, now: settings.now(), repeatUnknown: settings.repeatUnknown });
      if (found?.state === 'done') return found;
      lease = takeLease({ now: settings.now(), leaseMs: settings.leaseMs });
      put(records, record, { state: 'running', lease, input });
      return undefined;
    })
    .catch(async (error: unknown) => {
      // The lease may have been written. Nothing else was begun.
      if (isStoreError(error)) await fail('not-sent').catch(() => {});
      throw error;
    });
  // Sound: what a `run` of this key returned, which has one type.
  if (earlier !== undefined) return earlier.result as Result;

  let result: Result;
  try {
    result = await run();
  } catch (error) {
    // Where the end cannot be written, it becomes unknown when the lease ends.
    await fail(outcomeOf(error, settings)).catch(() => {});
    throw error;
  }
  return await store.transact([record], (records) => {
    const found = runForm.read(records.get(record));
    // Another run, or a person, was faster: all get one result.
    if (found?.state === 'done') return found.result as Result;
    // Sound: `void` is undefined.
    put(records, record, { state: 'done', input, result: result as JsonValue | undefined }, settings);
    return result;
  });

  function fail(outcome: Outcome): Promise<void> {
    return store.transact([record], (records) => {
      if (lease === undefined || runForm.read(records.get(record))?.lease?.token !== lease.token) return;
      if (outcome === 'unknown') put(records, record, { state: 'unknown', input });
      else records.delete(record);
    });
  }
}

/**
 * Says how an effect of {@link once} ended, after a person has looked: its result, which repetitions get from now on, or
 * `repeat`, if it did not happen and may run again.
 *
 * @param key as it was given to `once`
 * @param outcome the result, as `run` would have returned it, or `repeat`
 * @throws {OnceError} `in_progress`; `already_settled` if it has a result
 * @throws {StoreError}
 * @throws {ConfigurationError} `invalid_option`
 */
export async function settleOnce(
  store: RecordStore,
  key: string,
  outcome: OnceResult,
  options: SettleOnceOptions = {},
): Promise<void> {
  const settings = readSettleOptions(options);
  const record = recordKey(key);
  await checkStore(store).transact([record], (records) => {
    const found = runForm.read(records.get(record));
    if (found?.state === 'done') throw new OnceError('already_settled', 'The effect has a result already.');
    if (found !== undefined) checkNotRunning(found, settings.now());
    if (outcome === 'repeat') return records.delete(record);
    // Sound: `void` is undefined.
    const result = outcome as JsonValue | undefined;
    put(records, record, { state: 'done', input: found?.input, result }, settings);
  });
}

/** @param keeping how long a result is kept */
function put(
  records: RecordSet,
  record: string,
  run: Run,
  keeping?: Pick<Settings<typeof settleRows>, 'rememberMs' | 'now'>,
): void {
  const expiresAt =
    keeping?.rememberMs === undefined ? undefined : Math.floor(keeping.now()) + keeping.rememberMs;
  records.set(record, runForm.write(run, records.get(record)), { expiresAt });
}

/** @throws {OnceError} */
function checkRepetition(
  found: Run,
  { input, repeatUnknown, now }: { input: string | undefined; repeatUnknown: boolean; now: number },
): void {
  if (input !== undefined && found.input !== undefined && input !== found.input)
    throw new OnceError('different_input', 'The key stands for an effect with another fingerprint.');
  checkNotRunning(found, now);
  if (found.state !== 'done' && !repeatUnknown)
    throw new OnceError('unknown', 'The effect was begun and its result was never written.');
}

/** @throws {OnceError} `in_progress` */
function checkNotRunning({ lease }: Run, now: number): void {
  if (lease === undefined || !isHeld(lease, { now })) return;
  const message = 'Another call, perhaps of another process, runs the effect.';
  throw new OnceError('in_progress', message, { retryAfterMs: lease.until - now });
}

type Outcome = ReturnType<NonNullable<OnceOptions['outcomeOf']>>;

function outcomeOf(error: unknown, settings: ReturnType<typeof readOptions>): Outcome {
  try {
    return settings.outcomeOf(error);
  } catch {
    return 'unknown';
  }
}

/** @throws {ConfigurationError} `invalid_option` */
function recordKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return `once/${sha256(key)}`;
  throw invalidOption('once needs a key, such as effectKey(event, context): a text that is not empty.');
}

/** In UTF-8 all halves of surrogate pairs would be one character: a text with one is hashed in UTF-16, marked. */
function sha256(text: string): string {
  // No UTF-8 has this first byte.
  const bytes = text.isWellFormed()
    ? Buffer.from(text)
    : Buffer.concat([Uint8Array.of(0xff), Buffer.from(text, 'utf16le').swap16()]);
  return hash('sha256', bytes, 'hex');
}
