import { isPartnerExchangeError, whatFailed } from '../errors/errors.ts';
import { hidden, redactCredentials, redactQuote } from './redact-credentials.ts';
import { repeatsOf } from './repeats.ts';

/** An error's text may hold a whole reply. */
const maxShown = 10_000;

/**
 * A copy that is safe as a `cause`: name, code and message, also of its causes, without secrets. The original may
 * carry the request itself.
 */
export function redactError(error: unknown, secrets: readonly string[]): Error | undefined {
  return redactedCopy(error, repeatsOf(secrets), 0);
}

function redactedCopy(error: unknown, repeats: (text: string) => boolean, depth: number): Error | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined;
  const cause = redactedCopy(error.cause, repeats, depth + 1);
  const shown = (value: unknown) => {
    const text = String(value ?? '');
    if (repeats(text)) return hidden;
    const start = text.slice(0, maxShown);
    return redactQuote(error instanceof SyntaxError ? withoutQuotes(start) : start);
  };
  const message = shown(messageOf(error));
  const name = shown(error.name);
  const copy = new Error(message, cause && { cause });
  Object.defineProperty(copy, 'name', { value: name });
  Object.defineProperty(copy, 'stack', { value: `${name}: ${message}${placesOf(error, repeats)}` });
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    const code = typeof error.code === 'string' ? shown(error.code) : error.code;
    Object.defineProperty(copy, 'code', { value: code, enumerable: true });
  }
  return copy;
}

/** The places of the code, which stay where the message is hidden. */
function placesOf({ stack }: Error, repeats: (text: string) => boolean): string {
  const places = /(?:\n {4}at .*)+$/.exec(String(stack))?.[0].slice(0, maxShown) ?? '';
  return repeats(places) ? '' : redactCredentials(places);
}

/** Of an error of ours without advice and link: a message quotes it. */
function messageOf(error: Error): string {
  return isPartnerExchangeError(error) ? whatFailed(error) : error.message;
}

/** JSON parsers quote a part of the text, and no pattern finds a part of a secret. */
function withoutQuotes(text: string): string {
  return text.replace(/".*"/s, `"${hidden}"`);
}
