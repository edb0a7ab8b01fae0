import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { environmentVariables } from '../../src/deployment/environment-variables.ts';
import { apiRows } from './api-table.ts';
import { writeAttackPage } from './attack-page.ts';

interface GeneratedTable {
  readonly page: string;
  readonly head: string;
  readonly rows: () => readonly (readonly string[])[];
}

/** The tables of hand-written pages that are made from the code. */
export const generatedTables: readonly GeneratedTable[] = [
  {
    page: 'docs/assumptions.md',
    head: '| id | assumption | basis | override |',
    rows: () =>
      assumptions.map(({ id, statement, basis, override }) => [`\`${id}\``, statement, basis, override]),
  },
  {
    page: 'docs/guides/environment-files.md',
    head: '| variable | sets | holds |',
    rows: () => environmentVariables.map(({ name, sets, form }) => [`\`${name}\``, `\`${sets}\``, form]),
  },
  { page: 'docs/inspector.md', head: '| request | query or body | does |', rows: apiRows },
];

export function tableText({ head, rows }: GeneratedTable): string {
  const rule = head.replaceAll(/[^|]+/g, '---');
  return [head, rule, ...rows().map((cells) => `| ${cells.join(' | ')} |`.replace('|  |', '| |'))].join('\n');
}

/** The page with what is put in the place of its generated tables. */
export function replaceTables(page: string, text: string, put: (table: GeneratedTable) => string): string {
  return generatedTables
    .filter((table) => table.page === page)
    .reduce((whole, table) => {
      const start = whole.indexOf(table.head);
      const end = whole.indexOf('\n\n', start);
      return whole.slice(0, start) + put(table) + whole.slice(end);
    }, text);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..', '..');
  for (const page of new Set(generatedTables.map((table) => table.page))) {
    const file = join(root, page);
    writeFileSync(file, replaceTables(page, readFileSync(file, 'utf8'), tableText));
  }
  writeAttackPage(root);
}
