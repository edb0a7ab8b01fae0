import { operationRules } from '../deployment/operations.ts';
import { orderIdDigest, shapeOfReply } from '../deployment/reply-shape.ts';
import type { RequestOutcome } from '../errors/errors.ts';
import { hash } from '../internal/hash.ts';
import { redactReplyHeaders, redactUrl } from '../internal/redaction.ts';
import { traced } from '../internal/tracing.ts';
import { callHook } from '../internal/warn.ts';
import { type Call, leftMsOf, postedOrder, secretsOf } from './call.ts';
import type { ClientSettings, ObservedAttempt } from './client-options.ts';
import { type ReadReply, readReply, replyHead } from './reply.ts';
import { AttemptFailure, classifyFetchError, lessCertain, outcomeOfStatus } from './request-outcome.ts';

/**
 * Sends one attempt of a call and reads its reply to the end.
 *
 * @param signal aborted when the attempt takes too long, or by the caller
 * @returns the platform's response, which has been read: the record has the reply
 * @throws {AttemptFailure} for anything but a whole 2xx reply
 */
export async function sendAttempt(
  signal: AbortSignal,
  call: Call,
  client: ClientSettings,
  record: CallRecord,
): Promise<Response> {
  // Nothing is sent, so this is not an attempt.
  signal.throwIfAborted();
  if (leftMsOf(call) === 0) throw tooLate();
  const attempt = record.start();
  const { operation, method, urlTemplate } = call;
  return await traced<Record<string, unknown>, Response>(
    'call',
    () => ({
      start: () => ({ operation, method, urlTemplate, attempt }),
      result: ({ status }) => ({ outcome: 'succeeded', status }),
      failure: (error) => ({ ...failureFacts(error, signal, call), status: record.reply?.status }),
    }),
    () => runAttempt(signal, { call, client, record }),
  );
}

/** @throws {AttemptFailure} */
async function runAttempt(
  signal: AbortSignal,
  { call, client, record }: { call: Call; client: ClientSettings; record: CallRecord },
): Promise<Response> {
  const attempt = record.attempts;
  callHook(`onRequest of ${call.operation}`, () => client.onRequest?.(observedAttempt(call, attempt)));
  const started = client.now();
  let response: Response;
  let isTooLate = false;
  // Asked again when the connection is there: making one can take long.
  const beforeSending = () => {
    isTooLate = leftMsOf(call) === 0;
    if (isTooLate) throw tooLate();
  };
  try {
    response = await client.fetch(call.url, {
      method: call.method,
      headers: call.headers,
      redirect: 'manual',
      credentials: 'omit',
      signal,
      ...(call.body !== undefined &&
        bodySentOnce(call.body, call.headers, call.options.leftMs && beforeSending)),
    });
    record.noteHead(attempt, replyHead(response));
  } catch (error) {
    const failure = isTooLate ? tooLate() : classifyFetchError(error);
    record.finish(attempt, failure.outcome);
    observeEnd(call, client, { attempt, started, end: failureFacts(failure, signal, call) });
    throw failure;
  }
  const reply = await readReply(response);
  observeEnd(call, client, { attempt, started, end: reply });
  const failure = failureOf(reply, call);
  // A reply that is a success says nothing about earlier attempts.
  record.finish(attempt, failure?.outcome ?? 'not-sent', reply);
  if (failure !== undefined) throw failure;
  return response;
}

/** How an attempt failed. A request that was cut off rejects with an error of the platform's own. */
function failureFacts(error: unknown, signal: AbortSignal, { options }: Call): FailureFacts {
  const { code, outcome } =
    error instanceof AttemptFailure ? error : ({ code: 'network_error', outcome: 'unknown' } as const);
  if (code !== 'network_error' || !signal.aborted) return { code, outcome };
  return { code: options.signal?.aborted ? 'aborted' : 'timeout', outcome };
}

type FailureFacts = Pick<AttemptFailure, 'code' | 'outcome'>;

/** The time is over in which it may leave: nothing has left. */
function tooLate(): AttemptFailure {
  return new AttemptFailure('timeout', 'not-sent', new Error('the time in which it may leave was over'));
}

function failureOf({ status, failure, cause }: ReadReply, { statuses }: Call): AttemptFailure | undefined {
  if (status < 200 || status > 299)
    return new AttemptFailure(status < 400 ? 'redirected' : 'http_error', outcomeOfStatus(status, statuses));
  if (failure === undefined) return undefined;
  return new AttemptFailure(failure === 'too_large' ? 'reply_too_large' : 'network_error', 'unknown', cause);
}

/** What is known of a call during its attempts. */
export class CallRecord {
  attempts: number;
  /** The least certain outcome of the attempts that have ended. */
  outcome: RequestOutcome;
  /** What is known of the last attempt. */
  reply: ReadReply | undefined;
  #inFlight = false;
  readonly #statuses: Call['statuses'];

  constructor({ previousFailure, statuses }: Pick<Call, 'previousFailure' | 'statuses'>) {
    this.#statuses = statuses;
    this.attempts = previousFailure?.attempts ?? 0;
    this.outcome = previousFailure?.outcome ?? 'not-sent';
  }

  start(): number {
    this.#inFlight = true;
    this.reply = undefined;
    return ++this.attempts;
  }

  /** The head of the reply has arrived; its body may still be lost. */
  noteHead(attempt: number, head: ReadReply): void {
    if (attempt === this.attempts && this.#inFlight) this.reply = head;
  }

  /** Ignores an attempt that timed out: it was given up. */
  finish(attempt: number, outcome: RequestOutcome, reply?: ReadReply): void {
    if (attempt !== this.attempts || !this.#inFlight) return;
    this.#inFlight = false;
    this.reply = reply;
    this.outcome = lessCertain(this.outcome, outcome);
  }

  /** Gives up the attempt in flight. The head of its reply counts. */
  giveUp(): RequestOutcome {
    const outcome = this.reply === undefined ? 'unknown' : outcomeOfStatus(this.reply.status, this.#statuses);
    this.finish(this.attempts, outcome, this.reply);
    return this.outcome;
  }
}

/** An attempt that ends now, with its reply or without one. */
function observeEnd(
  call: Call,
  { onResponse, onNoResponse, now }: ClientSettings,
  { attempt, started, end }: { attempt: number; started: number; end: ReadReply | FailureFacts },
): void {
  if (!('status' in end)) {
    callHook(`onNoResponse of ${call.operation}`, () =>
      onNoResponse?.({ ...endedAttempt(call, attempt, { started, now: now() }), ...end }),
    );
    return;
  }
  const { status, headers, body, failure } = end;
  callHook(`onResponse of ${call.operation}`, () =>
    onResponse?.({
      ...endedAttempt(call, attempt, { started, now: now() }),
      status,
      headers: redactReplyHeaders(headers, secretsOf(call)),
      shape: shapeOfReply(body),
      ...(failure !== undefined && { failure }),
    }),
  );
}

function observedAttempt({ operation, method, url }: Call, attempt: number): ObservedAttempt {
  return { operation, method, url: redactUrl(url), attempt };
}

function endedAttempt(call: Call, attempt: number, { started, now }: { started: number; now: number }) {
  const { operation, headers } = call;
  // Of the public key only: a digest of a master key could be guessed.
  const isByPublicKey = operationRules(operation).authorization === 'public-key';
  const authorization = isByPublicKey ? headers.get('authorization') : null;
  const order = postedOrder(call)?.partner_order_id;
  return {
    ...observedAttempt(call, attempt),
    at: new Date(now).toISOString(),
    durationMs: now - started,
    ...(typeof order === 'string' && { order: orderIdDigest(order) }),
    ...(authorization !== null && { key: hash('sha256', authorization, 'hex').slice(0, 16) }),
  };
}

/** How Deno and workerd name themselves in `navigator.userAgent`. */
const readsBlobsOnce = /^(?:Deno\/|Cloudflare-Workers)/;

/** Node takes the body of a request when its connection is there, and sends the head with it. */
const readsBodyLast = /^Node\.js\//;

/**
 * A body that the platform cannot send a second time by itself, with its headers.
 *
 * fetch may send text or bytes again: Node after a 421, Deno when the connection is lost before a reply. The service
 * would get one order twice. A stream cannot be read again; its declared length keeps it from being sent in chunks.
 * Deno and workerd would chunk it nevertheless, but read a Blob once and with its length.
 *
 * @param beforeSending runs immediately before the body leaves, where the platform allows it (Node). If it throws,
 *   the body does not leave
 */
// TypeScript's RequestInit lacks `duplex`, which a stream requires.
function bodySentOnce(
  text: string,
  given: Headers,
  beforeSending?: () => void,
): RequestInit & { duplex?: 'half' } {
  const bytes = new TextEncoder().encode(text);
  const platform = globalThis.navigator?.userAgent ?? '';
  if (readsBlobsOnce.test(platform)) {
    return { headers: given, body: new Blob([bytes]) };
  }
  const headers = new Headers(given);
  headers.set('content-length', String(bytes.byteLength));
  const isAsked = readsBodyLast.test(platform);
  return { headers, body: streamOf(bytes, isAsked ? beforeSending : undefined), duplex: 'half' };
}

/** Read when it is asked for: with 0 as its mark nothing is read before. */
function streamOf(bytes: Uint8Array, beforeSending?: () => void): ReadableStream<Uint8Array> {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    pull(controller) {
      beforeSending?.();
      controller.enqueue(bytes);
      controller.close();
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
