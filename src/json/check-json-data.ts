import type { ValidationIssue } from '../errors/validation-error.ts';

/** Deeper than any payload of the contract, and well below the limit of the call stack. */
const maxDepth = 500;

/**
 * Finds what `JSON.stringify` would silently change: `NaN` to `null`, a `Map` to `{}`, a function to nothing. Returns
 * the first finding with its path, or `undefined` for clean JSON data. Members that are `undefined` are allowed, since
 * `JSON.stringify` leaves them out.
 */
export function findNonJson(value: unknown): ValidationIssue | undefined {
  return visit(value, []);
}

function visit(value: unknown, path: (string | number)[]): ValidationIssue | undefined {
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

function visitObject(value: object, path: (string | number)[]): ValidationIssue | undefined {
  if (path.length >= maxDepth) {
    return issue(path.slice(0, 1), `is nested more than ${maxDepth} levels deep, or in a circle`);
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = visit(value[index], [...path, index]);
      if (found) return found;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return issue(path, 'must be a plain object: convert it first (dates and decimals to strings)');
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const found = visit(member, [...path, name]);
    if (found) return found;
  }
  return undefined;
}

function issue(path: readonly (string | number)[], message: string): ValidationIssue {
  return { path, message };
}
