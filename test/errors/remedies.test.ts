import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, composeMessage, maxMessage } from '../../src/errors/errors.ts';
import { pageRemedies } from '../../tools/documents/error-meanings.ts';
import { remedies } from '../../tools/documents/error-tables.ts';
import { errorsPage } from '../../tools/documents/errors-page.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = remedies;
const codes = Object.entries(tables).flatMap(([kind, own]) => Object.keys(own).map((code) => [kind, code]));
describe('the table of remedies', () => {
  it('makes docs/errors.md: npm run docs:errors writes it', () => {
    expect(page).toBe(errorsPage());
  });

  it('has a heading on the page for every code, so that each link of a message leads somewhere', () => {
    const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
    expect(headings.sort()).toEqual([...new Set(codes.map(([, code]) => code))].sort());
  });

  it('is where each message leads: to its heading on a page that is shipped', () => {
    const { name, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const [kind = '', code = ''] of codes) {
      const message = composeMessage({ what: 'It failed.', remedy: tables[kind]?.[code] ?? '' }, code);
      expect(message.endsWith(` See ${name}/docs/errors.md#${code}.`), message).toBe(true);
    }
    expect(files).toContain('docs');
  });

  it('says for every code what to do, in one sentence, in its own words or on the page', () => {
    const onPage: Readonly<Record<string, string>> = pageRemedies;
    const said = codes.map(([kind = '', code = '']) => tables[kind]?.[code] || (onPage[code] ?? ''));
    expect(said.filter((text) => !/^[A-Z`].*\.$/.test(text) || /[.!?] [A-Z]/.test(text))).toEqual([]);
    expect(said.filter((text) => text.length > 200)).toEqual([]);
  });

  it('leaves room for what failed, at most 250 characters in all', () => {
    // What failed, on what: rarely longer.
    const what = 'x'.repeat(75);
    const tooLong = codes.filter(
      ([kind = '', code = '']) =>
        composeMessage({ what, remedy: tables[kind]?.[code] ?? '' }, code).length > maxMessage,
    );
    expect(tooLong).toEqual([]);
  });
});

describe('a message that would be too long', () => {
  const link = ' See partner-exchange-sdk/docs/errors.md#invalid_option.';

  it('ends between two words and two characters, before its link', () => {
    const { message } = new ConfigurationError('invalid_option', `${'word '.repeat(60)}end.`);
    expect(message).toMatch(/^(?:word )*word…/);
    expect(message.endsWith(`…${link}`)).toBe(true);
    expect(message.length).toBeGreaterThan(240);
    for (let length = 180; length < 260; length++) {
      const long = new ConfigurationError('invalid_option', `${'x'.repeat(length)}😀😀😀`);
      expect(long.message.length).toBeLessThanOrEqual(maxMessage);
      expect(long.message.isWellFormed()).toBe(true);
      expect(long.message).toContain(link);
    }
  });

  it('is whole where it fits', () => {
    const what = `${'x'.repeat(maxMessage - link.length - 1)}.`;
    expect(new ConfigurationError('invalid_option', what).message).toBe(`${what}${link}`);
  });
});
