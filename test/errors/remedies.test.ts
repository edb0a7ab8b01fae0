import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { causes, inWords, libraryWords, remedies, type Text } from '../../src/errors/remedies.ts';
import { errorsPage } from '../package/errors-page.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
const tables: Readonly<Record<string, Readonly<Record<string, Text>>>> = remedies;
const codes = Object.entries(tables).flatMap(([kind, own]) => Object.keys(own).map((code) => [kind, code]));
const sources = globSync('src/**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !file.endsWith('remedies.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(?:\*|\/\*\*|\/\/).*$/gm, ''))
  .join('\n');

describe('the table of remedies', () => {
  it('makes docs/errors.md: npm run docs:errors writes it', () => {
    expect(page).toBe(errorsPage());
  });

  it('has a heading on the page for every code, so that each link of a message leads somewhere', () => {
    const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
    expect(headings.sort()).toEqual([...new Set(codes.map(([, code]) => code))].sort());
  });

  it('has only codes that something raises', () => {
    expect(codes.filter(([, code]) => !sources.includes(`'${code}'`))).toEqual([]);
  });

  it('says for every code in a whole sentence what to do', () => {
    const texts = Object.values(tables).flatMap((own) => Object.values(own));
    const said = texts.map((text) => inWords(text, libraryWords));
    expect(said.filter((text) => !/^[A-Z].*\.$/.test(text) || text.length > 200)).toEqual([]);
  });

  it('cites only assumptions of the ledger', () => {
    const known = new Set<string>(assumptions.map(({ id }) => id));
    const cited = Object.values(causes).flatMap(({ ids }): readonly string[] => ids);
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });
});
