import ky, { isHTTPError, isTimeoutError } from 'ky';
import { isStandardSchema } from '../deployment/standard-schema.ts';
import { checkNames } from '../options/check-names.ts';
import { checkTimerMs, invalidOption } from '../options/check-values.ts';
import { type Call, callOptionNames } from './call.ts';
import { CallState } from './call-state.ts';
import { checkReply } from './check-reply.ts';
import type { ResolvedClientOptions } from './client-options.ts';
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
  if (call.options.signal?.aborted) {
    throw failure(call, state, {
      code: 'aborted',
      outcome: state.outcome,
      cause: call.options.signal.reason,
    });
  }
  try {
    await ky(call.url, {
      method: call.method,
      signal: call.options.signal ?? null,
      timeout: call.options.timeoutMs ?? client.timeoutMs,
      totalTimeout: client.totalTimeoutMs,
      retry: retryRules(call, client, state),
      // Of ky's own request only the signal is used: with headers it would be copied several times for nothing.
      fetch: (input) => sendAttempt(asRequest(input).signal, call, client, state),
    });
  } catch (error) {
    throw toRequestError(error, call, client, state);
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
  if (isTimeoutError(error)) {
    // If time runs out between two attempts, the last reply is known.
    return failure(call, state, { code: 'timeout', outcome, retryAfterMs: askedToWait(state, client) });
  }
  if (error instanceof AttemptFailure) {
    return failure(call, state, { code: error.code, outcome, cause: error.cause });
  }
  return failure(call, state, { code: 'network_error', outcome, cause: error });
}
