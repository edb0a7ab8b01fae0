import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { readEntries, root } from '../../tools/checks/entries.ts';

/** The functions, classes and constants that an entry passes on; no types. */
function valuesOf(file: string): string[] {
  const { statements } = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
  );
  return statements
    .filter(ts.isExportDeclaration)
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .flatMap(({ exportClause }) =>
      exportClause && ts.isNamedExports(exportClause) ? [...exportClause.elements] : [],
    )
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .map(({ name }) => name.text);
}

it('each function and constant has one entry; only errors and their guards stand where they are thrown, too', () => {
  const entries = readEntries();
  expect(entries.length).toBeGreaterThan(10);
  const homes = Map.groupBy(
    entries.flatMap(({ subpath, source }) => valuesOf(source).map((name) => ({ name, subpath }))),
    ({ name }) => name,
  );
  const repeated = [...homes.values()].filter(
    ([first, ...others]) => first && others.length > 0 && !/Error$/.test(first.name),
  );
  expect(repeated).toEqual([]);
});
