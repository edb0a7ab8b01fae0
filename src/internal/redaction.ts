import { isPartnerExchangeError, whatFailed } from '../errors/errors.ts';
import { hidden, redactCredentials } from './redact-credentials.ts';
import { echoRedactor, writtenForms } from './redact-echo.ts';

/**
 * Request headers that are shown. Any other may hold a secret, whatever its name: gateways add headers of their own.
 */
const harmlessHeaders: readonly string[] = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'user-agent',
];

/** Reply headers whose values are hidden. */
const sensitiveReplyHeader = /auth|cookie|credential|key|partner|pass|pwd|secret|session|signature|token/i;

/** The headers of a request as an object: only the values of harmless ones are shown. */
export function redactRequestHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  return redactHeaders(headers, secrets, (name) => !harmlessHeaders.includes(name));
}

/**
 * The headers of a reply as an object. Headers that may hold a secret show no value; in the others the request's secrets
 * and the values of a query are hidden: a redirect's `location` may repeat ours.
 */
export function redactReplyHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  const shown = redactHeaders(headers, secrets, (name) => sensitiveReplyHeader.test(name));
  return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, redactCredentials(value)]));
}

function redactHeaders(
  headers: Headers,
  secrets: readonly string[],
  isHidden: (name: string) => boolean,
): Record<string, string> {
  const shown = [...headers].map(([name, value]) => [
    name,
    isHidden(name) ? hidden : redactText(value, secrets),
  ]);
  return Object.fromEntries(shown);
}

/**
 * The header values of a request to redact from any text about it. Values of up to three characters are not secrets, and
 * hiding them would damage every text.
 */
export function sensitiveValues(headers: Headers): string[] {
  return [...headers]
    .filter(([name, value]) => !harmlessHeaders.includes(name) && value.length > 3)
    .map(([, value]) => value);
}

/** Most characters shown of an error's texts, which may hold a whole reply. */
const maxShown = 10_000;

/** A URL with every query value hidden: the messenger's API key travels there. */
export function redactUrl(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${hidden}`);
  return origin + pathname + (names.length > 0 ? `?${names.join('&')}` : '');
}

/**
 * A copy of an error that is safe as a `cause`: name, code and message of it and of its causes, without the request's
 * secrets and anything else that looks like one. The original may carry the request itself.
 */
export function redactError(error: unknown, secrets: readonly string[]): Error | undefined {
  return redactedCopy(error, echoRedactor(secrets), 0);
}

function redactedCopy(error: unknown, redact: (text: unknown) => string, depth: number): Error | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined;
  const cause = redactedCopy(error.cause, redact, depth + 1);
  const isQuoting = error instanceof SyntaxError;
  const shown = (text: unknown) => {
    const known = redact(text).slice(0, maxShown);
    return redactCredentials(isQuoting ? withoutQuotes(known) : known);
  };
  const copy = new Error(shown(messageOf(error)), cause && { cause });
  Object.defineProperty(copy, 'name', { value: shown(error.name) });
  Object.defineProperty(copy, 'stack', { value: shown(error.stack) });
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    const code = typeof error.code === 'string' ? shown(error.code) : error.code;
    Object.defineProperty(copy, 'code', { value: code, enumerable: true });
  }
  return copy;
}

/** Of an error of ours without advice and link: a message quotes it. */
function messageOf(error: Error): string {
  return isPartnerExchangeError(error) ? whatFailed(error) : error.message;
}

/** JSON parsers quote a part of the text, and no pattern finds a part of a secret. */
function withoutQuotes(text: string): string {
  return text.replace(/".*"/s, `"${hidden}"`);
}

/**
 * A text of our own without the secrets, in their usual spellings. The longest go first, since one secret may be part of
 * another. For foreign texts use `redactEcho`.
 */
export function redactText(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(writtenForms);
  forms.sort((one, other) => other.length - one.length);
  return forms.reduce((shown, form) => shown.replaceAll(form, hidden), text);
}
