import { RequestError, type RequestErrorDetails, type RequestOutcome } from '../errors/request-error.ts';
import { redactError, redactUrl } from '../redaction/redact-request.ts';
import type { Call } from './call.ts';
import type { CallState } from './call-state.ts';

const advice = {
  'not-sent': 'It did not reach the service: it is safe to repeat.',
  refused: 'The service says that it did not act.',
  unknown: 'The service may have acted: find out before you repeat it.',
} as const satisfies Record<RequestOutcome, string>;

const whatHappened = {
  connection_failed: 'no connection could be made',
  network_error: 'the connection broke before a whole reply was read',
  timeout: 'no reply came in time',
  aborted: 'the call was aborted',
  redirected: 'the service answered with a redirect, which is not followed',
  http_error: 'the service answered with an error',
  reply_too_large: 'the reply is larger than maxReplyBytes',
  reply_nonconforming: 'the reply does not fit the schema given',
} as const satisfies Record<RequestErrorDetails['code'], string>;

type FailureDetails = Pick<RequestErrorDetails, 'code' | 'outcome' | 'assumptions' | 'issues' | 'cause'> & {
  retryAfterMs?: number | undefined;
};

/** The error for a call, with everything that is known of it and no secret. */
export function failure(call: Call<unknown>, state: CallState, details: FailureDetails): RequestError {
  const { retryAfterMs: wait, cause: original, ...rest } = details;
  const reply = state.reply;
  const cause = redactError(original, call.secrets);
  const url = redactUrl(call.url);
  const status = reply === undefined ? '' : ` (status ${reply.status})`;
  const ids = details.assumptions ?? [];
  const guesses = ids.length === 0 ? '' : ` Assumptions that may be wrong: ${ids.join(', ')}.`;
  const message = `${call.operation}: ${whatHappened[details.code]}${status}, ${call.method} ${url}. ${advice[details.outcome]}${guesses}`;
  return new RequestError(message, {
    ...rest,
    operation: call.operation,
    method: call.method,
    url,
    attempts: state.attempts,
    ...(reply && { status: reply.status, headers: reply.headers, body: reply.body }),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(cause && { cause }),
  });
}
