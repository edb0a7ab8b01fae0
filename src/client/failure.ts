import { operationRules } from '../deployment/operations.ts';
import {
  codeOf,
  composeMessage,
  cutText,
  maxMessage,
  RequestError,
  type RequestErrorCode,
  type RequestErrorDetails,
  type RequestOutcome,
} from '../errors/errors.ts';
import { requestRemedies } from '../errors/remedies.ts';
import { redactError } from '../internal/driver-error.ts';
import { repeatsOf } from '../internal/echoed-secrets.ts';
import { plainLine } from '../internal/printable-text.ts';
import { hidden, redactQuote } from '../internal/redact-credentials.ts';
import { redactUrl } from '../internal/redaction.ts';
import { type Call, secretsOf } from './call.ts';
import type { CallRecord } from './http-attempt.ts';
import { type LikelyCause, likelyCauses, replyCauses } from './likely-causes.ts';
import { longestRetryAfterMs, replyTexts } from './reply.ts';
import { shownReply } from './shown-reply.ts';

const whatHappened = {
  connection_failed: 'no connection could be made',
  network_error: 'the connection broke before a whole reply was read',
  timeout: 'no reply came in time',
  aborted: 'the call was aborted',
  redirected: 'the service answered with a redirect, which is not followed',
  http_error: 'the service answered',
  reply_too_large: 'the reply is larger than maxReplyBytes',
  reply_nonconforming: 'the reply does not fit the schema given',
  reply_not_accepted: 'the reply does not accept it',
} as const satisfies Record<RequestErrorCode, string>;

const outcomeWords = {
  'not-sent': 'it is safe to repeat',
  refused: 'it did not act',
  unknown: 'it may have acted: look first',
} as const satisfies Record<RequestOutcome, string>;

type FailureDetails = Pick<RequestErrorDetails, 'outcome' | 'assumptions' | 'issues' | 'cause'> & {
  code: RequestErrorCode;
  retryAfterMs?: number | undefined;
  /** Replaces what the code says of it. */
  what?: string | undefined;
};

/** The error of a failed call, with everything that is known and without secrets. */
export function failure(call: Call, record: CallRecord, details: FailureDetails): RequestError {
  const { code, retryAfterMs: wait, cause: original, assumptions, what: happened, ...rest } = details;
  const { reply } = record;
  const personal = personalValues(call);
  const secrets = [...secretsOf(call), ...personal];
  const isAnswer = code === 'http_error' || code === 'reply_not_accepted';
  const texts = isAnswer ? replyTexts(reply?.body) : [];
  const likely = isAnswer && reply !== undefined ? likelyCauses(call.operation, reply.status, texts) : [];
  if (code === 'reply_not_accepted' && call.replyReader) likely.push(replyCauses[call.replyReader.option]);
  const isTransport = code === 'connection_failed' || code === 'network_error' || code === 'timeout';
  const quote = reply === undefined ? (isTransport ? causeText(original) : undefined) : texts[0];
  const bounded = wait === longestRetryAfterMs ? ', and its Retry-After counts as a day, the longest' : '';
  const words = wordsThatFit(code, remediesFor(call, code, likely), {
    quote: quotable(quote ?? '', repeatsOf(secrets)),
    sentenceWith: (text) =>
      `${call.operation}: ${happened ?? whatHappened[code]}${reasonOf(text, reply?.status)}${bounded}; ${outcomeWords[details.outcome]}.`,
  });
  const cause = redactError(original, secrets);
  return new RequestError(code, words.what, {
    ...rest,
    remedy: words.remedy,
    assumptions: assumptions ?? likely.flatMap(({ ids }) => ids),
    operation: call.operation,
    method: call.method,
    url: redactUrl(call.url),
    attempts: record.attempts,
    ...(reply && { status: reply.status, ...shownReply(call, reply, personal) }),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(cause && { cause }),
  });
}

/** The status and the service's own reason, or the transport's if there was no reply. */
function reasonOf(quote: string, status: number | undefined): string {
  if (status !== undefined) return ` (status ${status})${quote && `: "${quote}"`}`;
  return quote && ` (${quote})`;
}

/** Fewest characters of a quote: a cause less is named for them. */
const minQuoted = 60;

/**
 * The words of a message that fits: the first remedy that leaves room for the beginning of the quote, and as much of the
 * quote as fits beside it. The address stays in `url`, the ids of the causes in `assumptions`.
 *
 * @param remedies the longest first
 */
function wordsThatFit(
  code: RequestErrorCode,
  remedies: readonly string[],
  { quote, sentenceWith }: { readonly quote: string; readonly sentenceWith: (quote: string) => string },
): { what: string; remedy: string } {
  const shortest = quote.slice(0, minQuoted);
  const lengthWith = (remedy: string) =>
    composeMessage({ what: sentenceWith(shortest), remedy }, code).length;
  const remedy = remedies.find((text) => lengthWith(text) <= maxMessage) ?? '';
  const room = maxMessage - lengthWith(remedy) + shortest.length;
  return { what: sentenceWith(quote && cutText(quote, Math.max(room, 1))), remedy };
}

/** Most causes that a message names. */
const maxCauses = 3;

/** The remedies of this call: the three likeliest causes, then two, then one. */
function remediesFor(
  { operation, url }: Call,
  code: RequestErrorCode,
  likely: readonly LikelyCause[],
): string[] {
  const words = likely.slice(0, maxCauses).map((cause) => cause.words);
  if (words.length > 0)
    return words.map((_, index) => `Likely: ${words.slice(0, words.length - index).join('; or ')}.`);
  const proxy = code === 'connection_failed' ? unusedProxy(url) : undefined;
  if (proxy !== undefined)
    return [`Likely: ${proxy} names a proxy that is not used: set NODE_USE_ENV_PROXY=1.`];
  if (code === 'redirected')
    return [
      `Set ${operationRules(operation).baseUrl} of defineDeployment to the address that the service redirects to.`,
    ];
  // The outcome tells already whether it may be repeated.
  return code === 'network_error' || code === 'timeout' || code === 'aborted' ? [] : [requestRemedies[code]];
}

/** The variable that names a proxy for this URL, where Node is not told to use it. */
function unusedProxy(url: string): string | undefined {
  const { env = {}, execArgv = [] } = globalThis.process ?? {};
  const isNode = globalThis.navigator?.userAgent?.startsWith('Node.js/');
  if (!isNode || env.NODE_USE_ENV_PROXY === '1' || execArgv.includes('--use-env-proxy')) return undefined;
  const name = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return [name, name.toLowerCase()].find((variable) => env[variable]);
}

/** Most characters of a foreign text that are searched for secrets other than the request's own. */
const maxRead = 4_000;

/** A foreign text that is safe to quote: one line without secrets, which cannot pass for our own words. */
function quotable(text: string, repeats: (text: string) => boolean): string {
  const line = plainLine(text);
  // Colours can split a secret, and only the line has it whole.
  if (repeats(text) || repeats(line)) return hidden;
  return redactQuote(line.slice(0, maxRead)).replaceAll('"', "'");
}

/** How many causes are followed: an error may be its own cause. */
const maxDepth = 5;

/**
 * What the transport says about a failure: the innermost cause with a message, since `fetch failed` tells nothing.
 * Neither bounded nor redacted.
 */
function causeText(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > maxDepth) return undefined;
  // Several addresses were tried. The first failure speaks for all.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return causeText(inner, depth + 1) ?? ownText(error);
}

function ownText(error: Error): string | undefined {
  const code = codeOf(error);
  // OpenSSL's own messages are mostly places in its source.
  const message =
    'reason' in error && typeof error.reason === 'string' ? error.reason : String(error.message);
  if (message.includes(code)) return message === '' ? undefined : message;
  return `${code}: ${message}`;
}

/** Members that speak of a person. */
const personalName = /phone|mail|name|account|device/i;

/**
 * Personal data of a request, so that no message repeats it: all values of its query, and members of its body by their
 * names, at any depth. Services often write phone numbers without their `+`. Values of up to three characters are left:
 * hiding them would take such characters out of every text.
 *
 * @param body JSON
 */
function personalValues({ url, body }: { url: string; body?: string | undefined }): string[] {
  const values = [...new URL(url).searchParams.values()];
  if (body !== undefined) {
    JSON.parse(body, (name, value: unknown) => {
      if (personalName.test(name) && (typeof value === 'string' || typeof value === 'number'))
        values.push(String(value));
      return value;
    });
  }
  return values.map((value) => value.replace(/^\+/, '')).filter((value) => value.length > 3);
}
