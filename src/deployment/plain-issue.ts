import type { ValidationIssue } from '../errors/errors.ts';
import { hidden } from '../internal/redact-credentials.ts';
import { issuePath, type StandardIssue } from './standard-schema.ts';

/** How zod's own messages begin. A message from the author of a schema stays as it is. */
const zodWording =
  /^(?:Invalid (?:input|string|option|number|date|key|value|element|discriminator|[a-z0-9_ -]+$)|Too (?:small|big): |Unrecognized key)/i;

/**
 * A schema's finding in words for people who do not know its library: `is missing` instead of `Invalid input:
 * expected string, received undefined`. Never shows the value.
 *
 * @param input the checked value: zod reports a missing member and a wrong type alike
 */
export function plainIssue(issue: StandardIssue, input: unknown): ValidationIssue {
  const path = issuePath(issue);
  const { message } = issue;
  const value = path.reduce<unknown>(memberOf, input);
  if (!('code' in issue) || !zodWording.test(message)) return { path, message: withoutValue(message, value) };
  // Sound: every member is optional.
  return { path, message: describe(issue as ZodIssue, value, path.length === 0) };
}

/** The members that we read of a zod 4 issue, from any copy of zod. */
interface ZodIssue {
  readonly code?: unknown;
  readonly expected?: unknown;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly format?: unknown;
  readonly prefix?: unknown;
  readonly values?: unknown;
  readonly keys?: unknown;
}

function describe(issue: ZodIssue, value: unknown, isWhole: boolean): string {
  if (value === undefined && !isWhole) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[String(issue.expected)] ?? `of type ${issue.expected}`}`;
    case 'too_small':
      return limit(issue.origin, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return limit(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_format':
      return formOf(issue);
    case 'invalid_value':
      return oneOf(issue.values);
    case 'unrecognized_keys':
      return `has members that are not known: ${listed(issue.keys)}`;
    case 'invalid_union':
      return 'has none of the forms that are allowed';
    case 'not_multiple_of':
      return 'must be a multiple of a step';
    default:
      return 'does not fit';
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  nan: 'a number',
  bigint: 'a big integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
  undefined: 'left out',
  never: 'left out',
  date: 'a date',
};

const formats: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an e-mail address',
  uuid: 'a UUID',
  guid: 'a UUID',
  datetime: 'an ISO 8601 date and time',
  date: 'an ISO 8601 date',
  time: 'an ISO 8601 time',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'base64',
  e164: 'a phone number with "+" and country code',
  json_string: 'JSON',
};

function formOf({ format, prefix }: ZodIssue): string {
  if (format === 'starts_with') return `must begin with ${listed([prefix])}`;
  const known = formats[String(format)];
  return known === undefined ? 'has the wrong form' : `must be ${known}`;
}

function limit(origin: unknown, bound: unknown, relation: string): string {
  const isOne = Number(bound) === 1;
  if (origin === 'string') {
    if (relation === 'at least' && isOne) return 'must not be empty';
    return `must have ${relation} ${bound} ${isOne ? 'character' : 'characters'}`;
  }
  if (origin === 'array' || origin === 'set' || origin === 'map') {
    return `must have ${relation} ${bound} ${isOne ? 'item' : 'items'}`;
  }
  return `must be ${relation} ${bound}`;
}

function oneOf(values: unknown): string {
  const several = Array.isArray(values) && values.length > 1;
  return `must be ${several ? 'one of ' : ''}${listed(values)}`;
}

/** A schema may allow hundreds. */
function listed(values: unknown): string {
  if (!Array.isArray(values)) return '?';
  const shown = values
    .slice(0, 10)
    .map((value) => (typeof value === 'string' ? `"${value.slice(0, 64)}"` : String(value)));
  return shown.join(', ') + (values.length > shown.length ? ', …' : '');
}

function memberOf(value: unknown, name: string | number): unknown {
  // Not by a copy: there may be as many issues as members.
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Other libraries, and authors of messages, quote what they refuse: `received "ada@"`. */
function withoutValue(message: string, value: unknown): string {
  return textsOf(value).reduce(withoutText, message);
}

/** A short text is removed only in quotes, since it may be any word; a longer one also within a word. */
function withoutText(message: string, value: string | number | bigint): string {
  const text = String(value);
  const quotes = typeof value === 'string' ? [JSON.stringify(text), `'${text}'`] : [];
  const shown = quotes.reduce((said, quoted) => said.replaceAll(quoted, hidden), message);
  if (text.length <= 3 || !shown.includes(text)) return shown;
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return shown.replace(new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu'), hidden);
}

const maxTexts = 100;

function textsOf(value: unknown): (string | number | bigint)[] {
  const texts: (string | number | bigint)[] = [];
  const pending = [value];
  for (let read = 0; pending.length > 0 && read < maxTexts; read++) {
    const next = pending.pop();
    if (typeof next === 'string' || typeof next === 'number' || typeof next === 'bigint') {
      texts.push(next);
    } else if (typeof next === 'object' && next !== null) {
      pending.push(...Object.values(next).slice(0, maxTexts));
    }
  }
  return texts;
}
