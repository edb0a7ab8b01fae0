import { hidden, redactCredentials } from './redact-credentials.ts';
import { writtenForms } from './redact-echo.ts';

/** The only request headers that are shown: gateways add secret ones under any name. */
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

const sensitiveReplyHeader = /auth|cookie|credential|key|partner|pass|pwd|secret|session|signature|token/i;

/** Shows only the values of harmless headers. */
export function redactRequestHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  return redactHeaders(headers, secrets, (name) => !harmlessHeaders.includes(name));
}

/**
 * Hides the values of headers that may hold a secret; elsewhere the request's secrets and query values: a redirect's
 * `location` may repeat ours.
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
 * The header values to redact from any text. Up to three characters are no secret, and hiding them would damage every
 * text.
 */
export function sensitiveValues(headers: Headers): string[] {
  return [...headers]
    .filter(([name, value]) => !harmlessHeaders.includes(name) && value.length > 3)
    .map(([, value]) => value);
}

/** Hides every query value: the messenger's API key travels there. */
export function redactUrl(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${hidden}`);
  return origin + pathname + (names.length > 0 ? `?${names.join('&')}` : '');
}

/**
 * Removes the secrets from a text of our own, in their usual spellings; the longest first, since one may be part of
 * another. For foreign texts use `redactEcho`.
 */
export function redactText(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(writtenForms);
  forms.sort((one, other) => other.length - one.length);
  return forms.reduce((shown, form) => shown.replaceAll(form, hidden), text);
}
