import { codeOf, isPartnerExchangeError, whatFailed } from '../errors/errors.ts';
import { repeatsOf } from './echoed-secrets.ts';
import { hidden, redactCredentials, redactQuote } from './redact-credentials.ts';

/**
 * The error of a store's client as a copy that is safe to show. ioredis puts the failed command into its error, with
 * the body of a delivery or the password of Redis; PostgreSQL quotes the values of rows and the statement.
 */
export function driverError(error: unknown, maxCauses = 5): unknown {
  if (!(error instanceof Error) || !quotesData(error)) return error;
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  const command = 'command' in error && isCommand(error.command) ? { name: error.command.name } : undefined;
  const hasCause = cause !== undefined && maxCauses > 0;
  const copy = new Error(message, hasCause ? { cause: driverError(cause, maxCauses - 1) } : {});
  Object.defineProperty(copy, 'name', { value: name });
  Object.defineProperty(copy, 'stack', { value: stack });
  return Object.assign(copy, code !== undefined && { code }, command && { command });
}

function quotesData(error: Error): boolean {
  return (
    sqlStateOf(error) !== undefined ||
    ['detail', 'where'].some((member) => member in error) ||
    ('command' in error && isCommand(error.command))
  );
}

function isCommand(value: unknown): value is { readonly name: unknown; readonly args: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && 'args' in value;
}

/** The code of an error that PostgreSQL itself reported; `undefined` for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Describes any thrown value as a short text to store, without credentials. Our own sentences hold none. */
export function describeError(error: unknown): string {
  return storableText(isPartnerExchangeError(error) ? text(error).slice(0, 500) : shown(error));
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

/** An error's text may hold a whole reply. */
const maxShown = 10_000;

/** A copy that is safe as a `cause`: name, code and message, also of its causes, without secrets and the request. */
export function redactError(error: unknown, secrets: readonly string[]): Error | undefined {
  return redactedCopy(error, repeatsOf(secrets), 0);
}

function redactedCopy(error: unknown, repeats: (text: string) => boolean, depth: number): Error | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined;
  const cause = redactedCopy(error.cause, repeats, depth + 1);
  const isOurs = isPartnerExchangeError(error);
  const shown = (value: unknown) => {
    const text = String(value ?? '');
    if (repeats(text)) return hidden;
    const start = text.slice(0, maxShown);
    // Our own sentences hold no secret, and speak of keys and their ids.
    if (isOurs) return start;
    return redactQuote(error instanceof SyntaxError ? withoutQuotes(start) : start);
  };
  // A message that wraps ours needs neither its advice nor its link.
  const message = shown(isOurs ? whatFailed(error) : error.message);
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

/** JSON parsers quote a part of the text, and no pattern finds a part of a secret. */
function withoutQuotes(text: string): string {
  return text.replace(/".*"/s, `"${hidden}"`);
}
