import type { ValidationIssue } from '../errors/errors.ts';

/** Any value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { [member: string]: JsonValue };

/** `undefined` if the text is not JSON: the parser's own error would quote it. */
export function tryParse(text: string): JsonValue | undefined {
  try {
    // Sound: JSON.parse returns JSON data.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Not an array, not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a value that may be anything; none if it is no object. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Deeper than any payload, and well below the limit of the call stack. */
const maxDepth = 500;

/** One list for the whole search: a copy for each member would cost more than writing its JSON. */
type Path = (string | number)[];

/**
 * Finds what `JSON.stringify` would silently change: `NaN` to `null`, a `Map` to `{}`, a function to nothing, an
 * object with a `toJSON` to something else. Members that are `undefined` are allowed.
 */
export function findNonJson(value: unknown): ValidationIssue | undefined {
  return visit(value, []);
}

function visit(value: unknown, path: Path): ValidationIssue | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : issue(path, 'must be a finite number');
    case 'object':
      return value === null ? undefined : visitObject(value, path);
    default:
      return issue(path, `must be JSON data, not ${typeof value}`);
  }
}

function visitObject(value: object, path: Path): ValidationIssue | undefined {
  if (path.length >= maxDepth) {
    return issue(path.slice(0, 1), `is nested more than ${maxDepth} levels deep, or in a circle`);
  }
  // Own, hidden or inherited: JSON.stringify would write what it returns.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return issue(path, 'must be plain data, without a toJSON method');
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      path.push(index);
      const found = visit(value[index], path);
      if (found) return found;
      path.pop();
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return issue(path, 'must be a plain object: convert it first (dates and decimals to strings)');
  }
  for (const name of Object.keys(value)) {
    // Sound: the name is one of its own.
    const member = value[name as keyof typeof value] as unknown;
    // Nearly every member of a payload is text.
    if (member === undefined || typeof member === 'string') continue;
    path.push(name);
    const found = visit(member, path);
    if (found) return found;
    path.pop();
  }
  return undefined;
}

function issue(path: Path, message: string): ValidationIssue {
  return { path, message };
}
