import ky, { isHTTPError, isTimeoutError } from 'ky';
import { isStandardSchema } from '../deployment/standard-schema.ts';
import { checkNames } from '../options/check-names.ts';
import { checkTimerMs, invalidOption } from '../options/check-values.ts';
import { type Call, callOptionNames } from './call.ts';
import { CallState } from './call-state.ts';
import { checkReply } from './check-reply.ts';
import type { ResolvedClientOptions } from './client-options.ts';
import type { Place } from './concurrency-limit.ts';
import { failure } from './failure.ts';
import { AttemptFailure } from './outcome.ts';
import type { Reply } from './reply.ts';
import { askedToWait, retryRules } from './retry-rules.ts';
import { sendAttempt } from './send-attempt.ts';

/**
 * Sends a call, keeps its time limits, repeats it where that is safe, and returns its reply.
 *
 * ky does the timing and repeating. Each attempt makes its own request, and reads its own reply to the end, so that the
 * time limit covers it.
 *
 * @throws {ConfigurationError} `invalid_option` for malformed options of the call, before anything is sent
 * @throws {RequestError}
 */
export async function sendCall<Body>(call: Call<Body>, client: ResolvedClientOptions): Promise<Reply<Body>> {
  checkCallOptions(call);
  const state = new CallState(call.before);
  const { signal, timeoutMs = client.timeoutMs } = call.options;
  if (signal?.aborted) {
    throw failure(call, state, { code: 'aborted', outcome: state.outcome, cause: signal.reason });
  }
  const place = client.limit.place();
  const end = performance.now() + client.totalTimeoutMs;
  const takePlace = () => (place.takeIfFree() ? undefined : waitForPlace(place, end, signal));
  try {
    await takePlace();
    await ky(call.url, {
      method: call.method,
      signal: signal ?? null,
      timeout: timeoutMs,
      totalTimeout: end - performance.now(),
      retry: retryRules(call, client, { state, place }),
      hooks: { beforeRetry: [takePlace] },
      // Of ky's own request only the signal is used: with headers it would be copied several times for nothing.
      fetch: (input) => sendAttempt(asRequest(input).signal, call, client, state),
    });
  } catch (error) {
    throw toRequestError(error, call, client, state);
  } finally {
    place.leave();
  }
  return checkReply(call, state);
}

function checkCallOptions({ operation, options }: Call<unknown>): void {
  checkNames(operation, options, callOptionNames);
  const { signal, timeoutMs, schema } = options;
  if (timeoutMs !== undefined) checkTimerMs('timeoutMs', timeoutMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidOption('signal must be an AbortSignal.');
  }
  if (schema !== undefined && !isStandardSchema(schema)) {
    throw invalidOption('schema must be a Standard Schema (zod, valibot, arktype …).');
  }
}

/** Thrown when a call has waited too long for its turn. */
class NoTurnError extends Error {}

/**
 * Waits for a place for half of the time that the call has left: the other half is for the request. One that is sent
 * with hardly any time left would end as `unknown`, where `not-sent` is known.
 */
async function waitForPlace(place: Place, end: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const said = 'its turn did not come: as many requests as concurrency allows were under way';
    timer = setTimeout(() => reject(new NoTurnError(said)), (end - performance.now()) / 2);
  });
  try {
    await Promise.race([place.take(signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** ky passes a request; its type allows what fetch takes. */
function asRequest(input: string | URL | Request): Request {
  return input instanceof Request ? input : new Request(input);
}

function toRequestError(
  error: unknown,
  call: Call<unknown>,
  client: ResolvedClientOptions,
  state: CallState,
): unknown {
  const outcome = state.abandon();
  if (call.options.signal?.aborted) return failure(call, state, { code: 'aborted', outcome });
  if (isHTTPError(error)) {
    const status = state.reply?.status ?? error.response.status;
    return failure(call, state, {
      code: status < 400 ? 'redirected' : 'http_error',
      outcome,
      retryAfterMs: askedToWait(state, client),
    });
  }
  if (isTimeoutError(error) || error instanceof NoTurnError) {
    // If time runs out between two attempts, the last reply is known.
    const retryAfterMs = askedToWait(state, client);
    const cause = error instanceof NoTurnError ? error : undefined;
    return failure(call, state, { code: 'timeout', outcome, retryAfterMs, cause });
  }
  if (error instanceof AttemptFailure) {
    return failure(call, state, { code: error.code, outcome, cause: error.cause });
  }
  return failure(call, state, { code: 'network_error', outcome, cause: error });
}
