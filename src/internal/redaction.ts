import { repeatsOf, writtenForms } from './echoed-secrets.ts';
import { hidden, redactCredentials } from './redact-credentials.ts';

/** The request headers that hold no secret: gateways add secret ones under any other name. */
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

/** Hides the values of headers that may hold a secret, and values that repeat one of the request's. */
export function redactReplyHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  const repeats = repeatsOf(secrets);
  const shown = [...headers].map(([name, value]) => {
    // The address of a redirect stays: it repeats our query values, which are hidden first.
    const text = name === 'location' ? redactCredentials(value) : value;
    return [name, sensitiveReplyHeader.test(name) || repeats(text) ? hidden : redactCredentials(text)];
  });
  return Object.fromEntries(shown);
}

/** The header values to redact from any text. Hiding three characters or fewer would damage every text. */
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

/** Removes secrets from a text of our own, in their usual spellings; the longest first, as one may hold another. */
export function redactText(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(writtenForms);
  forms.sort((one, other) => other.length - one.length);
  return forms.reduce((shown, form) => shown.replaceAll(form, hidden), text);
}
