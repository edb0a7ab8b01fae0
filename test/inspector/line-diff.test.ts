import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type DiffLine, lineDiff } from '../../src/inspector/line-diff.ts';

const textOf = (lines: readonly DiffLine[], without: DiffLine['kind']) =>
  lines
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('\n');

it('holds both texts, and as few changes as possible', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      expect(textOf(lines, 'added')).toBe(before);
      expect(textOf(lines, 'removed')).toBe(after);
      const same = lines.filter(({ kind }) => kind === 'same').length;
      expect(same).toBe(longestCommon(before.split('\n'), after.split('\n')));
    }),
  );
});

it('shows one changed line of many as one, and texts that are too long as replaced', () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`);
  const changed = lines.with(2500, 'other');
  const differences = lineDiff(lines.join('\n'), changed.join('\n')).filter(({ kind }) => kind !== 'same');
  expect(differences).toEqual([
    { kind: 'removed', text: 'line 2500' },
    { kind: 'added', text: 'other' },
  ]);
  const others = lines.map((line) => `another ${line}`);
  expect(lineDiff(lines.join('\n'), others.join('\n'))).toHaveLength(10_000);
});

/** By trying everything. */
function longestCommon(one: readonly string[], other: readonly string[]): number {
  const [first, ...rest] = one;
  if (first === undefined || other.length === 0) return 0;
  const index = other.indexOf(first);
  const taken = index === -1 ? 0 : 1 + longestCommon(rest, other.slice(index + 1));
  return Math.max(taken, longestCommon(rest, other));
}
