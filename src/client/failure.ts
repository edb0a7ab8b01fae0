import { operationRules } from '../deployment/operations.ts';
import {
  codeOf,
  composeMessage,
  cutText,
  maxMessage,
  RequestError,
  type RequestErrorCode,
  type RequestErrorDetails,
} from '../errors/errors.ts';
import { briefOutcomes, causeOf, causes, outcomeClauses, requestRemedies } from '../errors/remedies.ts';
import { redactError } from '../internal/driver-error.ts';
import { repeatsOf } from '../internal/echoed-secrets.ts';
import { plainLine } from '../internal/printable-text.ts';
import { hidden, redactQuote } from '../internal/redact-credentials.ts';
import { redactUrl } from '../internal/redaction.ts';
import { type Call, secretsOf } from './call.ts';
import type { CallRecord } from './http-attempt.ts';
import { type LikelyCause, likelyCauses } from './likely-causes.ts';
import { longestRetryAfterMs, replyTexts } from './reply.ts';
import { shownReply } from './shown-reply.ts';

const whatHappened = {
  connection_failed: 'no connection could be made',
  network_error: 'the connection broke before a whole reply was read',
  timeout: 'no reply came in time',
  aborted: 'the call was aborted',
  redirected: 'the service answered with a redirect, which is not followed',
  http_error: 'the service answered with an error',
  reply_too_large: 'the reply is larger than maxReplyBytes',
  reply_nonconforming: 'the reply does not fit the schema given',
  reply_not_accepted: 'the reply does not accept it',
} as const satisfies Record<RequestErrorCode, string>;

type FailureDetails = Pick<RequestErrorDetails, 'outcome' | 'assumptions' | 'issues' | 'cause'> & {
  code: RequestErrorCode;
  retryAfterMs?: number | undefined;
  /** Replaces what the code says of it. */
  what?: string | undefined;
};

/** The error of a failed call, with everything that is known and without secrets. */
export function failure(call: Call, record: CallRecord, details: FailureDetails): RequestError {
  const { code, retryAfterMs: wait, cause: original, assumptions, what: happened, ...rest } = details;
  const reply = record.reply;
  const personal = personalValues(call);
  const secrets = [...secretsOf(call), ...personal];
  const repeats = repeatsOf(secrets);
  const cause = redactError(original, secrets);
  const url = redactUrl(call.url);
  const isError = code === 'http_error' || code === 'reply_not_accepted';
  const said = isError ? replyTexts(reply?.body) : [];
  const likely = isError && reply !== undefined ? likelyCauses(call.operation, reply.status, said) : [];
  if (code === 'reply_not_accepted')
    likely.push(call.operation === 'sendMessage' ? causes.messageReply : causes.orderReply);
  const quote = quoteOf(details, repeats, { hasReply: reply !== undefined, said: said[0] });
  const reason = reasonOf(quote, reply?.status);
  const bounded = wait === longestRetryAfterMs ? ', and its Retry-After counts as a day, the longest' : '';
  const happening = `${call.operation}: ${happened ?? whatHappened[code]}${reason}${bounded}, ${call.method} ${url}`;
  const remedy = remedyFor(call, code, likely);
  return new RequestError(code, `${happening}; ${outcomeClauses[details.outcome]}.`, {
    ...rest,
    remedy,
    brief: briefOf(call, details, { status: reply?.status, quote, bounded, remedy, likely }),
    assumptions: assumptions ?? likely.flatMap(({ ids }) => ids),
    operation: call.operation,
    method: call.method,
    url,
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

/** What the service, or the transport, says about it: empty where that tells nothing. */
function quoteOf(
  { code, cause }: FailureDetails,
  repeats: (text: string) => boolean,
  { hasReply, said = '' }: { hasReply: boolean; said: string | undefined },
): string {
  if (hasReply) return quotable(said, repeats);
  const isTransport = code === 'connection_failed' || code === 'network_error' || code === 'timeout';
  return isTransport ? quotable(causeText(cause) ?? '', repeats) : '';
}

/** Most causes that a short message names. */
const maxCauses = 3;
/** Fewest characters of a quote: a cause less is named for them. */
const minQuoted = 20;

/**
 * The message for a call whose whole message is too long: the outcome, and as many of the likeliest causes as fit beside
 * the beginning of the reason. The address stays in `url`, the ids of the causes in `assumptions`.
 */
function briefOf(
  { operation }: Call,
  { code, outcome, what }: FailureDetails,
  {
    status,
    quote,
    bounded,
    remedy,
    likely,
  }: {
    readonly status: number | undefined;
    readonly quote: string;
    readonly bounded: string;
    readonly remedy: string | undefined;
    readonly likely: readonly LikelyCause[];
  },
): { what: string; remedy: string } {
  const shortest = quote.slice(0, minQuoted);
  const happened = what ?? (code === 'http_error' ? 'the service answered' : whatHappened[code]);
  const withQuote = (text: string) =>
    `${operation}: ${happened}${reasonOf(text, status)}${bounded}; ${briefOutcomes[outcome]}.`;
  const lengthWith = (text: string, advice: string) =>
    composeMessage({ what: withQuote(text), remedy: advice }, code).length;
  const remedies = Array.from({ length: Math.min(maxCauses, likely.length) }, (_, index) =>
    likelyIn(likely.slice(0, index + 1)),
  ).reverse();
  if (likely.length === 0) remedies.push(remedy ?? requestRemedies[code]);
  const advice = remedies.find((text) => lengthWith(shortest, text) <= maxMessage) ?? '';
  const room = maxMessage - lengthWith(shortest, advice) + shortest.length;
  return { what: withQuote(quote && cutText(quote, Math.max(room, 1))), remedy: advice };
}

function likelyIn(causes: readonly LikelyCause[]): string {
  const last = causes.at(-1)?.brief;
  const others = causes.slice(0, -1).map(({ brief }) => brief);
  return `Likely: ${[...others, others.length > 0 ? `or ${last}` : last].join('; ')}.`;
}

/** A remedy for this call; `undefined` where the table's is as good. */
function remedyFor(
  { operation, url }: Call,
  code: RequestErrorCode,
  likely: readonly LikelyCause[],
): string | undefined {
  if (likely.length > 0) return `Likely: ${likely.map(describeCause).join('; or ')}.`;
  switch (code) {
    case 'connection_failed': {
      const proxy = unusedProxy(url);
      return proxy && causeOf.unusedProxy(proxy);
    }
    case 'redirected':
      return `Set ${operationRules(operation).baseUrl} of defineDeployment to the address that the service redirects to.`;
    case 'network_error':
    case 'timeout':
    case 'aborted':
      // The outcome tells already whether it may be repeated.
      return '';
    default:
      return undefined;
  }
}

/** The variable that names a proxy for this URL, where Node is not told to use it. */
function unusedProxy(url: string): string | undefined {
  const { env = {}, execArgv = [] } = globalThis.process ?? {};
  const isNode = globalThis.navigator?.userAgent?.startsWith('Node.js/');
  if (!isNode || env.NODE_USE_ENV_PROXY === '1' || execArgv.includes('--use-env-proxy')) return undefined;
  const name = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return [name, name.toLowerCase()].find((variable) => env[variable]);
}

function describeCause({ advice, ids }: LikelyCause): string {
  return ids.length === 0 ? advice : `${advice} (${ids.join(', ')})`;
}

/** Most characters of a foreign text in our message. */
const maxQuoted = 200;
/** Most characters that are searched for secrets other than the request's own. */
const maxRead = 4_000;

/** A foreign text that is safe to quote: one short line without secrets, which cannot pass for our own words. */
function quotable(text: string, repeats: (text: string) => boolean): string {
  const line = plainLine(text);
  // Colours can split a secret, and only the line has it whole.
  if (repeats(text) || repeats(line)) return hidden;
  const shown = redactQuote(line.slice(0, maxRead)).replaceAll('"', "'");
  // Do not cut through the middle of a character.
  return shown.length > maxQuoted
    ? `${shown
        .slice(0, maxQuoted)
        .replace(/\p{Cs}$/u, '')
        .trimEnd()}…`
    : shown;
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
  const found = [...new URL(url).searchParams.values()];
  if (body !== undefined) {
    JSON.parse(body, (name, value: unknown) => {
      if (personalName.test(name) && (typeof value === 'string' || typeof value === 'number'))
        found.push(String(value));
      return value;
    });
  }
  return found.map((value) => value.replace(/^\+/, '')).filter((value) => value.length > 3);
}
