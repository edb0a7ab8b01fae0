import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wrapText } from '../../../src/devtools/cli/terminal/terminal-text.ts';
import { partnerExchange } from './run-in-process.ts';

it.each([60, 80, 100])('help fits into a terminal of %i columns, apart from examples', async (columns) => {
  for (const words of [
    ['--help'],
    ['sandbox', 'start', '--help'],
    ['listen', '--help'],
    ['attack', '--help'],
  ]) {
    const { stdout } = await partnerExchange(words, { isTerminal: true, columns, env: { NO_COLOR: '1' } });
    const long = stdout.split('\n').filter((line) => line.length > columns && !/^ {2}\$ |\S{40}/.test(line));
    expect(long).toEqual([]);
  }
});

it('help that is no terminal is as wide as it is', async () => {
  const { stdout } = await partnerExchange(['sandbox', 'start', '--help']);
  expect(stdout.split('\n').some((line) => line.length > 200)).toBe(true);
});

it('help keeps a second column in its place', () => {
  expect(wrapText('  --port  Where to listen on this machine', 24)).toBe(
    '  --port  Where to\n          listen on this\n          machine',
  );
});

it('help loses no word, whatever the text and the width', () => {
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '  ', '\n', '-') }),
      fc.integer({ min: 1, max: 40 }),
      (text, width) => {
        expect(words(wrapText(text, width))).toEqual(words(text));
      },
    ),
  );
});
