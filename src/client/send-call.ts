import ky, { isTimeoutError } from 'ky';
import { replyVerdicts } from '../deployment/order-reply.ts';
import { bareIssue, type StandardResult } from '../deployment/standard-schema.ts';
import { backoffDelay } from '../internal/backoff.ts';
import { type Call, leftMsOf, postedOrder } from './call.ts';
import type { ReplyBody, ReplySchema } from './call-options.ts';
import type { ClientSettings } from './client-options.ts';
import { failure } from './failure.ts';
import { CallRecord, sendAttempt } from './http-attempt.ts';
import { makeReply, type ReadReply, type Reply, retryAfterMs } from './reply.ts';
import { AttemptFailure, lessCertain } from './request-outcome.ts';

/**
 * Sends a call within its time limits, repeats it where that is safe, and returns its reply.
 *
 * ky is the timer of attempts and waits. Each attempt makes its own request and reads its reply to the end, so that
 * the time limit covers it; {@link mayRepeat} decides about the next one.
 *
 * @throws {RequestError}
 */
export async function sendCall<Schema extends ReplySchema>(
  call: Call<Schema>,
  client: ClientSettings,
): Promise<Reply<ReplyBody<Schema>>> {
  const record = new CallRecord(call);
  const { signal, timeoutMs = client.timeoutMs } = call.options;
  if (signal?.aborted) {
    throw failure(call, record, { code: 'aborted', outcome: record.outcome, cause: signal.reason });
  }
  try {
    await ky(call.url, {
      method: call.method,
      signal: signal ?? null,
      timeout: timeoutMs,
      // Where nothing is left the attempt says so, and sends nothing.
      totalTimeout: Math.max(1, Math.min(client.totalTimeoutMs, leftMsOf(call))),
      throwHttpErrors: false,
      retry: {
        // ky counts only the repetitions.
        limit: client.maxAttempts - 1,
        methods: [call.method.toLowerCase()],
        delay: (attempt) =>
          retryAfterMs(record.reply, client.now()) ?? backoffDelay(attempt, client.retry, client.random),
        backoffLimit: client.retry.maxDelayMs,
        shouldRetry: ({ error }) => mayRepeat(call, client, record, error),
      },
      // Only the signal of ky's request is used: with headers it would be copied several times for nothing.
      // Sound: ky passes a request; its type allows more.
      fetch: (input) => sendAttempt((input as Request).signal, call, client, record),
    });
  } catch (error) {
    const outcome = record.giveUp();
    if (signal?.aborted) throw failure(call, record, { code: 'aborted', outcome });
    // If time runs out between two attempts, the last reply is known.
    const known = { outcome, retryAfterMs: retryAfterMs(record.reply, client.now()) };
    if (isTimeoutError(error)) throw failure(call, record, { ...known, code: 'timeout' });
    const { code, cause } =
      error instanceof AttemptFailure ? error : new AttemptFailure('network_error', outcome, error);
    throw failure(call, record, { ...known, code, cause });
  }
  return checkReply(call, record);
}

function mayRepeat(call: Call, client: ClientSettings, record: CallRecord, error: Error): boolean {
  if (!(error instanceof AttemptFailure)) {
    record.giveUp();
    return isTimeoutError(error) && call.repeat === 'always';
  }
  if (error.code === 'http_error') {
    const wait = retryAfterMs(record.reply, client.now()) ?? 0;
    return isRepeatable(call.repeat, record.reply?.status) && wait <= client.retry.maxDelayMs;
  }
  if (error.code !== 'connection_failed' && error.code !== 'network_error') return false;
  return call.repeat === 'always' || error.outcome === 'not-sent';
}

function isRepeatable(repeat: Call['repeat'], status = 0): boolean {
  if (status === 429) return repeat !== 'if-not-sent';
  return repeat === 'always' && (status === 408 || (status >= 500 && status <= 599));
}

/** @throws {RequestError} for an order or a message that is not accepted, or a body that does not fit the schema */
async function checkReply<Schema extends ReplySchema>(
  call: Call<Schema>,
  record: CallRecord,
): Promise<Reply<ReplyBody<Schema>>> {
  const reply = record.reply;
  if (reply === undefined) throw new TypeError('A call ended without a reply.');
  requireAcceptance(call, record, reply);
  const { body } = reply;
  const members = call.membersOf?.(body);
  const schema = call.options.schema;
  // Sound: without a schema the body is `unknown`.
  if (schema === undefined) return makeReply(reply, body as ReplyBody<Schema>, members);
  let result: StandardResult<unknown> = { issues: [] };
  let cause: unknown;
  try {
    result = await schema['~standard'].validate(body);
  } catch (error) {
    // The service has acted: an exception from the caller's schema must not hide that.
    cause = error;
  }
  // Sound: the schema says so.
  if (result.issues === undefined) return makeReply(reply, result.value as ReplyBody<Schema>, members);
  const known = { issues: result.issues.map(bareIssue), assumptions: ['replies'], cause };
  throw failure(call, record, { ...known, code: 'reply_nonconforming', outcome: 'unknown' });
}

/** A 2xx alone accepts no order and no message (ledger: `order-reply`, `message-reply`). */
function requireAcceptance(call: Call, record: CallRecord, { status, headers, body }: ReadReply): void {
  if (call.replyReader === undefined) return;
  const { option, read } = call.replyReader;
  let verdict: unknown;
  let cause: unknown;
  try {
    verdict = read({ status, headers, body, order: postedOrder(call) });
  } catch (error) {
    cause = error;
  }
  if (verdict === 'accepted') return;
  // An async function: nobody else takes care of its failure.
  Promise.resolve(verdict).catch(() => {});
  throw failure(call, record, {
    code: 'reply_not_accepted',
    outcome: lessCertain(record.outcome, verdict === 'refused' ? 'refused' : 'unknown'),
    what: replyVerdicts.some((known) => known === verdict)
      ? undefined
      : `${option} of the deployment has to return ${replyVerdicts.join(', ')}`,
    cause,
  });
}
