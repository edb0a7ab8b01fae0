import { ConfigurationError } from '../errors/configuration-error.ts';
import { longestTimerMs } from '../runtime/longest-timer.ts';

/** The error for a malformed option. The message never shows its value. */
export function invalidOption(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}

/** @throws {ConfigurationError} `invalid_option` unless it is a whole number within the bounds */
export function checkInteger(
  name: string,
  value: unknown,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(
    most === Number.MAX_SAFE_INTEGER
      ? `${name} must be a whole number of at least ${least}.`
      : `${name} must be a whole number from ${least} to ${most}.`,
  );
}

/** Checks milliseconds for a timer. @throws {ConfigurationError} `invalid_option` */
export function checkTimerMs(name: string, value: unknown, least = 1): number {
  return checkInteger(name, value, { least, most: longestTimerMs });
}

/** @throws {ConfigurationError} `invalid_option` unless it is a function */
export function checkFunction<Callable>(name: string, value: Callable): Callable {
  if (typeof value === 'function') return value;
  throw invalidOption(`${name} must be a function.`);
}

/** @throws {ConfigurationError} `invalid_option` unless it is one of these */
export function checkOneOf<const Value extends string>(
  name: string,
  value: unknown,
  allowed: readonly Value[],
): Value {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidOption(`${name} must be ${allowed.map((one) => `'${one}'`).join(' or ')}.`);
}
