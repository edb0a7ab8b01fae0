import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettyJson } from '../../src/devtools/inspector/pretty-json.ts';
import { jsonTokens } from '../../src/internal/json-tokens.ts';
import { readLiteralTree } from '../../src/internal/json-tree.ts';
import { growth, wellBelowQuadratic } from '../support/timing.ts';

/** JSON in any of its layouts. */
const texts = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\n \r'))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

describe('the tokens of a JSON text', () => {
  it('are the whole text, and blanks stand only between them', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const tokens = [...jsonTokens(text)];
        expect(tokens.map((token) => token.text).join('')).toBe(text);
        const others = tokens.filter(({ kind }) => kind !== 'space').map((token) => token.text);
        expect(others.join('')).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('make a tree with the spelling of numbers and strings and the order of repeated members', () => {
    expect(readLiteralTree(' { "2" : 1e2 , "1":-0, "\\u0032" :[ "\\n" ] } ')).toEqual({
      kind: 'object',
      members: [
        ['2', { kind: 'literal', text: '1e2' }, '"2"'],
        ['1', { kind: 'literal', text: '-0' }, '"1"'],
        ['2', { kind: 'array', elements: [{ kind: 'text', text: '\n', spelling: '"\\n"' }] }, '"\\u0032"'],
      ],
    });
  });

  it.each(['', ' ', '{', '[1', '{"a"', '{"a":', '{"a":1'])('make no tree of %j', (text) => {
    expect(() => readLiteralTree(text)).toThrow(SyntaxError);
  });

  it.each(['"\\\\', '1 ', '{"a":1},', '[1,'])('are read in linear time from %j', (part) => {
    const text = (size: number) => `[${part.repeat(size / part.length)}`;
    expect(growth(text, (hostile) => [...jsonTokens(hostile)].length)).toBeLessThan(wellBelowQuadratic);
  });
});

const prettyText = (text: string) =>
  prettyJson(text)
    ?.map((token) => token.text)
    .join('');

describe('a body on the page', () => {
  it('is as JSON.stringify indents it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(prettyText(text)).toBe(JSON.stringify(value, null, 2));
      }),
    );
    expect(prettyText('[1.0]')).toBe('[\n  1.0\n]');
  });

  it('is nothing for a text that is not JSON', () => {
    expect(prettyJson('{"a":')).toBeUndefined();
  });
});
