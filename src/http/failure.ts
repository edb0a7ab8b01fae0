import { RequestError, type RequestErrorDetails, type RequestOutcome } from '../errors/request-error.ts';
import { personalValues } from '../redaction/personal-values.ts';
import { printableText } from '../redaction/printable-text.ts';
import { redactCredentials } from '../redaction/redact-credentials.ts';
import { redactError, redactText, redactUrl } from '../redaction/redact-request.ts';
import { type Call, secretsOf } from './call.ts';
import type { CallState } from './call-state.ts';
import { causeText } from './cause-text.ts';
import { type LikelyCause, likelyCauses } from './likely-causes.ts';
import { replyTexts } from './reply-texts.ts';

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

/** The error of a failed call, with everything that is known and without secrets. */
export function failure(call: Call<unknown>, state: CallState, details: FailureDetails): RequestError {
  const { retryAfterMs: wait, cause: original, assumptions, ...rest } = details;
  const reply = state.reply;
  const secrets = [...secretsOf(call), ...personalValues(call)];
  const cause = redactError(original, secrets);
  const url = redactUrl(call.url);
  const said = details.code === 'http_error' ? replyTexts(reply?.body) : [];
  const causes =
    details.code === 'http_error' && reply !== undefined
      ? likelyCauses(call.operation, reply.status, said)
      : [];
  const what =
    whatHappened[details.code] + reasonOf(details, secrets, { status: reply?.status, said: said[0] });
  const message = `${call.operation}: ${what}, ${call.method} ${url}. ${advice[details.outcome]}${adviceOn(causes)}`;
  return new RequestError(message, {
    ...rest,
    assumptions: assumptions ?? causes.flatMap(({ ids }) => ids),
    operation: call.operation,
    method: call.method,
    url,
    attempts: state.attempts,
    ...(reply && { status: reply.status, headers: reply.headers, body: reply.body }),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(cause && { cause }),
  });
}

/** The status and the service's own reason, or the transport's if there was no reply. */
function reasonOf(
  { code, cause }: FailureDetails,
  secrets: readonly string[],
  { status, said }: { status: number | undefined; said: string | undefined },
): string {
  if (status !== undefined) {
    const quoted = quotable(said ?? '', secrets);
    return ` (status ${status})${quoted === '' ? '' : `: "${quoted}"`}`;
  }
  if (code !== 'connection_failed' && code !== 'network_error' && code !== 'timeout') return '';
  const quoted = quotable(causeText(cause) ?? '', secrets);
  return quoted === '' ? '' : ` (${quoted})`;
}

function adviceOn([first, ...others]: readonly LikelyCause[]): string {
  if (first === undefined) return '';
  const line = ({ advice, ids }: LikelyCause) =>
    ids.length === 0 ? advice : `${advice} (${ids.join(', ')})`;
  const rest = others.length === 0 ? '' : ` Or: ${others.map(line).join('; ')}.`;
  return ` Likely: ${line(first)}.${rest}`;
}

/** Most characters of a foreign text in our message. */
const maxQuoted = 200;
/** Most characters that are searched for secrets other than the request's own. */
const maxRead = 4_000;

/** A foreign text that is safe to quote: one short line without secrets, which cannot pass for our own words. */
function quotable(text: string, secrets: readonly string[]): string {
  const plain = printableText(redactText(text, secrets).slice(0, maxRead));
  // Again, since a secret that invisible characters had split is whole now.
  const shown = redactCredentials(redactText(plain, secrets)).replaceAll('"', "'");
  // Do not cut through the middle of a character.
  return shown.length > maxQuoted
    ? `${shown
        .slice(0, maxQuoted)
        .replace(/\p{Cs}$/u, '')
        .trimEnd()}…`
    : shown;
}
