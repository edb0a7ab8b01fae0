import type { JsonValue } from '../../json/json-value.ts';
import { CliError } from '../context/cli-error.ts';

/** Parses a whole number within bounds. */
export function wholeNumber(least: number, most: number): (input: string) => number {
  return (input) => {
    const number = /^\d{1,15}$/.test(input) ? Number(input) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new CliError(`must be a whole number from ${least} to ${most}`);
  };
}

export const port = wholeNumber(0, 65_535);

/** Parses an `http:` or `https:` address. */
export function webAddress(input: string): URL {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CliError('must be an address that begins with http:// or https://');
}

/** Parses one of some words. */
export function oneOf<const Word extends string>(words: readonly Word[]): (input: string) => Word {
  return (input) => {
    const word = words.find((each) => each === input);
    if (word !== undefined) return word;
    throw new CliError(`must be ${words.join(', ')}`);
  };
}

/** A member of a body, and what it shall be. */
export interface Assignment {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** Parses `a.b=c`: the value is JSON if it can be read as such, otherwise text. */
export function assignment(input: string): Assignment {
  const end = input.indexOf('=');
  const path = input.slice(0, Math.max(end, 0)).split('.');
  if (path.some((name) => name === '' || name === '__proto__')) {
    throw new CliError('must be of the form member=value or outer.inner=value');
  }
  const text = input.slice(end + 1);
  try {
    // Sound: it is what JSON.parse returns.
    return { path, value: JSON.parse(text) as JsonValue };
  } catch {
    return { path, value: text };
  }
}
