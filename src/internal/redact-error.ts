import { isPartnerExchangeError, whatFailed } from '../errors/errors.ts';
import { hidden, redactCredentials, redactQuote } from './redact-credentials.ts';
import { echoRedactor } from './redact-echo.ts';

/** An error's text may hold a whole reply. */
const maxShown = 10_000;

/**
 * A copy that is safe as a `cause`: name, code and message, also of its causes, without secrets. The original may
 * carry the request itself.
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
    return redactQuote(isQuoting ? withoutQuotes(known) : known);
  };
  const message = shown(messageOf(error));
  const copy = new Error(message, cause && { cause });
  Object.defineProperty(copy, 'name', { value: shown(error.name) });
  Object.defineProperty(copy, 'stack', { value: stackOf(error, message, shown) });
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    const code = typeof error.code === 'string' ? shown(error.code) : error.code;
    Object.defineProperty(copy, 'code', { value: code, enumerable: true });
  }
  return copy;
}

/** The places of the code stay, also where the message is hidden. */
function stackOf(error: Error, message: string, shown: (text: unknown) => string): string {
  const places = /(?:\n {4}at .*)+$/.exec(String(error.stack))?.[0] ?? '';
  return message === hidden
    ? `${shown(error.name)}: ${hidden}${redactCredentials(places)}`
    : shown(error.stack);
}

/** Of an error of ours without advice and link: a message quotes it. */
function messageOf(error: Error): string {
  return isPartnerExchangeError(error) ? whatFailed(error) : error.message;
}

/** JSON parsers quote a part of the text, and no pattern finds a part of a secret. */
function withoutQuotes(text: string): string {
  return text.replace(/".*"/s, `"${hidden}"`);
}
