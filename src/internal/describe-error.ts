import { codeOf } from './error-code.ts';
import { hidden, redactQuote } from './redact-credentials.ts';

/** Describes any thrown value as a short text to store, without credentials. */
export function describeError(error: unknown): string {
  return storableText(shown(error));
}

function shown(error: unknown): string {
  const message = redactQuote(text(error).slice(0, 5_000)).slice(0, 500);
  if (message !== hidden || !(error instanceof Error)) return message;
  // What kind of error it was is no secret.
  return redactQuote(`${error.name}${codeOf(error) && ` ${codeOf(error)}`}: ${hidden}`).slice(0, 500);
}

function text(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'something that cannot be printed';
  }
}

/** Removes what PostgreSQL refuses: U+0000 and lone surrogates, which cutting a text can leave behind. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
