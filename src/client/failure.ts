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
import { redactReply, repeatsOf } from '../internal/echoed-secrets.ts';
import { plainLine } from '../internal/printable-text.ts';
import { hidden, holdsKey, redactCredentials, redactQuote } from '../internal/redact-credentials.ts';
import { redactText, redactUrl } from '../internal/redaction.ts';
import { type Call, secretsOf } from './call.ts';
import type { CallRecord } from './http-attempt.ts';
import { type LikelyCause, likelyCauses, replyCauses } from './likely-causes.ts';
import { type ReadReply, replyTexts } from './reply.ts';

const whatHappened = {
  connection_failed: 'no connection could be made',
  network_error: 'the connection broke before a whole reply was read',
  timeout: 'no reply came in time',
  aborted: 'the call was aborted',
  redirected: 'the service answered with a redirect, which is not followed',
  http_error: 'the service answered',
  reply_too_large: 'the reply is larger than 1 MiB',
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
  const quote = reply === undefined ? causeText(original) : texts[0];
  const remedy = remedyFor(call, code, likely);
  const sentenceWith = (text: string) =>
    `${call.operation}: ${happened ?? whatHappened[code]}${reasonOf(text, reply?.status)}; ${outcomeWords[details.outcome]}.`;
  // The whole reason stands in `body`.
  const room = maxMessage - composeMessage({ what: sentenceWith(' '), remedy }, code).length;
  const cut = cutText(quotable(quote ?? '', repeatsOf(secrets)), Math.max(room, minQuoted));
  return new RequestError(code, sentenceWith(cut), {
    ...rest,
    remedy,
    assumptions: assumptions ?? likely.flatMap(({ ids }) => ids),
    operation: call.operation,
    method: call.method,
    url: redactUrl(call.url),
    attempts: record.attempts,
    ...(reply && { status: reply.status, ...redactedReply(call, reply, personal) }),
    retryAfterMs: wait,
    cause: redactError(original, secrets),
  });
}

/** The status and the service's own reason, or the transport's if there was no reply. */
function reasonOf(quote: string, status: number | undefined): string {
  if (status !== undefined) return ` (status ${status})${quote && `: "${quote}"`}`;
  return quote && ` (${quote})`;
}

/** Fewest characters of a quote, also where they cost the end of the remedy. */
const minQuoted = 40;

/** The two likeliest causes, or else what the code says. The ids of all causes stand in `assumptions`. */
function remedyFor({ url }: Call, code: RequestErrorCode, likely: readonly LikelyCause[]): string {
  const [likeliest, second] = likely;
  if (likeliest !== undefined) return `Likely: ${likeliest.words}${second ? `; or ${second.words}` : ''}.`;
  const proxy = code === 'connection_failed' ? unusedProxy(url) : undefined;
  if (proxy !== undefined)
    return `Likely: ${proxy} names a proxy that is not used: set NODE_USE_ENV_PROXY=1.`;
  // The outcome tells already whether it may be repeated.
  return code === 'network_error' || code === 'timeout' || code === 'aborted' ? '' : requestRemedies[code];
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
  const text = causeText(inner, depth + 1);
  if (text !== undefined) return text;
  const code = codeOf(error);
  // OpenSSL's own messages are mostly places in its source.
  const message = String('reason' in error ? error.reason : error.message);
  return message.includes(code) ? message || undefined : `${code}: ${message}`;
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

/**
 * The reply as an error has it. A service may repeat what it got, so each text that repeats a key, a signature, a header,
 * the text of the request or personal data of it is hidden whole. Personal data is only cut out where it is spelled as it
 * was sent. Everything else stays: a reply may hold new keys, which are nowhere else.
 */
function redactedReply(
  call: Call,
  { headers, body }: Pick<ReadReply, 'headers' | 'body'>,
  personal: readonly string[],
): Pick<RequestErrorDetails, 'headers' | 'body'> {
  // Shorter ones occur in texts by chance.
  const repeatsSecret = repeatsOf(secretsOf(call).filter((secret) => secret.length > 3));
  const repeatsPersonal = repeatsOf(personal);
  const repeats = (text: string) => repeatsSecret(text) || repeatsPersonal(redactText(text, personal));

  function redact(text: string): string {
    if (!repeats(text)) return redactText(text, personal);
    // New keys stay, by their prefixes.
    const words = text.split(/[\s"'<>,]+/).filter((word) => holdsKey(word) && !repeats(word));
    return [hidden, ...words].join(' ');
  }

  const redactedHeaders = [...headers].map(([name, value]): [string, string] => [
    name,
    // The address of a redirect stays: it repeats our query values, which are hidden first.
    redact(name === 'location' && repeats(value) ? redactCredentials(value) : value),
  ]);
  return { headers: new Headers(redactedHeaders), body: redactReply(body, redact) };
}
