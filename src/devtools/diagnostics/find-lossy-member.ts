import type { ValidationIssue } from '../../errors/errors.ts';
import { type LiteralNode, readLiteralTree } from '../../internal/json-tree.ts';

/**
 * Finds the first member of a JSON text that `JSON.parse` changes: a number that a double does not hold
 * (`12345678901234567890`, `-0`), or a repeated name. Another spelling of the same number (`10.0`) is no loss.
 *
 * @param text accepted by `JSON.parse`
 * @throws {RangeError} when the text is nested too deeply for the call stack
 */
export function findLossyMember(text: string): ValidationIssue | undefined {
  return visit(readLiteralTree(text), []);
}

/** Whether `JSON.stringify` writes a number with the digits that its literal has, whatever their spelling. */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && significantDigits(literal) === significantDigits(String(value));
}

function visit(node: LiteralNode, path: ValidationIssue['path']): ValidationIssue | undefined {
  switch (node.kind) {
    case 'text':
      return undefined;
    case 'literal':
      return lossOf(node.text, path);
    case 'array':
      return firstOf(node.elements, (element, index) => visit(element, [...path, index]));
    case 'object': {
      const names = new Set<string>();
      return firstOf(node.members, ([name, value]) => {
        const here = [...path, name];
        if (names.has(name))
          return { path: here, message: 'occurs twice, and only the last one would count' };
        names.add(name);
        return visit(value, here);
      });
    }
  }
}

function lossOf(literal: string, path: ValidationIssue['path']): ValidationIssue | undefined {
  if (literal === 'true' || literal === 'false' || literal === 'null') return undefined;
  if (literal.startsWith('-') && Number(literal) === 0) return { path, message: 'is -0, and would become 0' };
  if (isExactNumber(literal)) return undefined;
  return { path, message: 'is a number that would be rounded: write it as text, in quotes' };
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => ValidationIssue | undefined,
): ValidationIssue | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found) return found;
  }
  return undefined;
}

/** The digits of a number without its sign, point, exponent and unnecessary zeros. */
function significantDigits(literal: string): string {
  const exponent = literal.search(/e/i);
  const digits = (exponent === -1 ? literal : literal.slice(0, exponent)).replace('-', '').replace('.', '');
  let start = 0;
  while (digits[start] === '0') start++;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end--;
  return digits.slice(start, end);
}
