import { InboxError } from '../../errors/errors.ts';
import { settledWithin } from '../../internal/deadline.ts';
import {
  abortSignal,
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  optional,
  value,
} from '../../internal/options.ts';
import { isWholeProcess } from '../../internal/runtime.ts';
import { warnOnce } from '../../internal/warn.ts';
import { type StoreCallOptions, storeCallRows } from '../../store/limited-calls.ts';
import { checkPrefix, checkStore, type RecordStore } from '../../store/record-store.ts';
import { isNewerFormat } from '../../store/stored-form.ts';
import { attemptDelivery, inboxStopped, leaseLost, startLeaseClock } from '../handling-attempt.ts';
import { type HandlingOptions, handlingRows, reportStore } from '../handling-options.ts';
import { defaultStopMs, type HandlingOutcome, hasHost, type Inbox, type InboxHost } from '../inbox.ts';
import { type QuarantineOptions, quarantineRows } from '../quarantine/quarantine.ts';
import { recordQuarantine, reviewNowAndThen } from '../quarantine/record-quarantine.ts';
import { limitStoreCalls } from '../store-calls.ts';
import { deliveryGuard } from './delivery-guard.ts';
import { messageTurns } from './message-turns.ts';
import { type QueueMessage, readMessage, writeMessage } from './queue-message.ts';

/** Options of {@link queueInbox}. */
export interface QueueInboxOptions
  extends Pick<
      HandlingOptions,
      'maxAttempts' | 'timeLimitMs' | 'rememberMs' | 'role' | 'onStoreError' | 'now'
    >,
    StoreCallOptions,
    QuarantineOptions {
  /**
   * Puts a message into your queue. Resolves once the queue keeps it durably: the delivery is acknowledged then. If it
   * rejects, or takes longer than `storeTimeoutMs`, the delivery is answered 503.
   */
  send: (message: QueueMessage) => Promise<unknown>;
  /**
   * Drops duplicates, counts attempts, and has a message tried alone whose process died: a record store that all
   * processes share. Without it each message is handled, attempts are counted only if `handleMessage` is told their
   * number, and nothing is kept in quarantine.
   */
  store?: RecordStore | undefined;
  /** Begins the keys of its records. @default 'queue/' */
  prefix?: string | undefined;
}

/** Options of `handleMessage`. */
export interface HandleMessageOptions {
  /**
   * The number of this attempt, from 1, if your queue counts. Anything that is no such number counts as the first. Not
   * needed with a `store`.
   */
  readonly attempt?: number | undefined;
  /** Aborts the handler; the message is to be tried again. A waiting message is `retry` once its turn comes. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What the queue has to do with a message. `done`: drop it. `retry`: deliver it again, after a pause. `dead`: put it
 * where a person looks at it, and deliver it no more.
 */
export type MessageResult = 'done' | 'retry' | 'dead';

/** An inbox that hands deliveries to a queue. */
export interface QueueInbox extends Inbox {
  /**
   * Handles one message: a {@link QueueMessage}, or its JSON as text or bytes. Never rejects for what a message holds or
   * a handler throws: one that is no delivery is `dead`, with a process warning.
   *
   * With a `store`, a message whose process died is tried alone: it waits until the others of this process have ended, and
   * those that come meanwhile wait for it. Only a death while alone counts as an attempt.
   *
   * Messages are not verified again: let no other program write to the queue.
   *
   * @throws {ConfigurationError} `invalid_option` with `role: 'receiver'`, and without `createWebhooks`
   */
  handleMessage(message: unknown, options?: HandleMessageOptions): Promise<MessageResult>;
  /**
   * Accepts nothing more (503, and `retry` for messages), and waits for running handlers. Those that still run after the
   * time are aborted, and their messages are `retry`. It closes neither queue nor store.
   * @param options.timeoutMs @default 10000
   */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<'drained' | 'cut-off'>;
}

const { maxAttempts, timeLimitMs, rememberMs, role, onStoreError, now } = handlingRows;

const readOptions = defineOptions('queueInbox', {
  maxAttempts,
  timeLimitMs,
  rememberMs,
  role,
  onStoreError,
  now,
  ...storeCallRows,
  ...quarantineRows,
  send: callback(),
  store: optional(checkStore),
  prefix: value(checkPrefix, { default: 'queue/' }),
} satisfies OptionTable<QueueInboxOptions>);

const readHandleOptions = defineOptions('handleMessage', {
  // A broker may give 0, NaN or text, and the delivery must still be handled.
  attempt: (given) => (given === undefined || isCount(given) ? given : 1),
  signal: abortSignal(),
} satisfies OptionTable<HandleMessageOptions>);

/**
 * An inbox on any queue: it hands each verified delivery to your queue as one message, and handles a message where your
 * consumer calls `handleMessage`. Retries, pauses and dead letters are the queue's.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const inbox = queueInbox({ send: (message) => env.QUEUE.send(message), store });
 * const webhooks = createWebhooks({ credentials, inbox }).on('event.buy.credited.crypto', (event) =>
 *   applyOnce(effectKey(event), event),
 * );
 *
 * for (const message of batch.messages) {
 *   const result = await inbox.handleMessage(message.body);
 *   if (result === 'retry') message.retry();
 *   else message.ack();
 * }
 * ```
 */
export function queueInbox(options: QueueInboxOptions): QueueInbox {
  const settings = readOptions(options);
  const call = limitStoreCalls(settings.storeTimeoutMs);
  const guard = settings.store && deliveryGuard(settings.store, settings);
  const quarantine =
    settings.store && settings.quarantineMs > 0
      ? recordQuarantine(settings.store, { ...settings, checkReceives })
      : undefined;
  const review = reviewNowAndThen();
  const inTurn = messageTurns();
  // No controller for all of them: workerd makes none before its first request.
  const running = new Map<AbortController, Promise<unknown>>();
  let host: InboxHost | undefined;
  let isStopping = false;

  async function attempt(
    { delivery, receivedAt }: ReturnType<typeof readMessage>,
    turn: {
      readonly host: InboxHost;
      /** The number of the attempt, if the queue counts. */
      readonly number: number | undefined;
      readonly signal: AbortSignal;
      readonly isAlone: boolean;
    },
  ): Promise<MessageResult | 'alone'> {
    const { host: owner, signal, isAlone } = turn;
    // It may have waited for its turn.
    if (isStopping || signal.aborted) return 'retry';
    const elapsedMs = startLeaseClock(settings);
    const claim = guard && (await call(() => guard.claim(delivery, { sentAt: receivedAt, isAlone })));
    if (claim === 'alone') return claim;
    if (claim === 'handled') return 'done';
    if (claim === 'busy') return 'retry';
    if (claim === 'lost') {
      owner.report(delivery, { outcome: 'dead', attempt: settings.maxAttempts, error: leaseLost() });
      return 'dead';
    }
    const number = claim?.attempt ?? turn.number;
    const result = await attemptDelivery(
      owner,
      { delivery, attempt: number ?? 1, receivedAt: claim?.receivedAt ?? receivedAt },
      {
        ...settings,
        elapsedMs,
        // Without a number the queue gives up, not the inbox.
        maxAttempts: number === undefined ? Number.POSITIVE_INFINITY : settings.maxAttempts,
        signal,
      },
    );
    const isCutOff = signal.aborted && result.outcome === 'failed';
    try {
      if (claim !== undefined)
        await call(async () => guard?.settle(delivery, claim, isCutOff ? 'cut-off' : result.outcome));
    } catch (error) {
      // The lease ends by itself. If it was handled, a second message of it is handled again.
      reportStore(error, settings);
    }
    if (!isCutOff && result.outcome !== 'put-back') owner.report(delivery, result);
    return messageResults[result.outcome];
  }

  function checkReceives(): void {
    if (isStopping) throw inboxStopped();
  }

  return {
    quarantine,
    attach(given) {
      if (host !== undefined) throw hasHost();
      host = given;
    },
    async receive(delivery) {
      checkReceives();
      if ((await call(async () => guard?.isKnown(delivery))) === true) return 'duplicate';
      await call(async () => settings.send(writeMessage(delivery, Math.floor(settings.now()))));
      // In the queue it is kept: without this record only its repetitions become messages too.
      await call(async () => guard?.remember(delivery)).catch((error: unknown) =>
        reportStore(error, settings),
      );
      return 'stored';
    },
    async handleMessage(message, given = {}) {
      const handleOptions = readHandleOptions(given);
      if (settings.role === 'receiver')
        throw invalidOption("An inbox with role: 'receiver' handles no message.");
      if (host === undefined)
        throw invalidOption('handleMessage needs the handlers: give the inbox to createWebhooks.');
      if (isStopping || handleOptions.signal?.aborted || !host.hasHandlers) return 'retry';
      const reviewed = review(host);
      // A function that ends after its messages would end the review too.
      if (!isWholeProcess()) await reviewed;
      const read = readOrRefuse(message, settings);
      if (typeof read === 'string') return read;
      const cutOff = new AbortController();
      const signals = [cutOff.signal, ...(handleOptions.signal === undefined ? [] : [handleOptions.signal])];
      const turn = { host, number: handleOptions.attempt, signal: AbortSignal.any(signals) };
      const work = inTurn((isAlone) => attempt(read, { ...turn, isAlone }));
      running.set(cutOff, work);
      try {
        const result = await work;
        return result === undefined || result === 'alone' ? 'retry' : result;
      } catch (error) {
        reportStore(error, settings);
        return 'retry';
      } finally {
        running.delete(cutOff);
      }
    },
    async stop({ timeoutMs = defaultStopMs } = {}) {
      isStopping = true;
      if (await settledWithin([...running.values()], timeoutMs)) return 'drained';
      for (const cutOff of running.keys()) cutOff.abort(inboxStopped());
      await Promise.allSettled(running.values());
      return 'cut-off';
    },
  };
}

/** The delivery of a message, or what the queue has to do with one that cannot be read. */
function readOrRefuse(
  message: unknown,
  settings: ReturnType<typeof readOptions>,
): ReturnType<typeof readMessage> | MessageResult {
  try {
    return readMessage(message);
  } catch (error) {
    if (isNewerFormat(error)) {
      reportStore(error, settings);
      return 'retry';
    }
    if (!(error instanceof InboxError)) throw error;
    warnOnce(error.message);
    return 'dead';
  }
}

function isCount(given: unknown): given is number {
  return Number.isSafeInteger(given) && Number(given) > 0;
}

const messageResults = {
  handled: 'done',
  ignored: 'done',
  failed: 'retry',
  'put-back': 'retry',
  dead: 'dead',
} as const satisfies Record<HandlingOutcome, MessageResult>;
