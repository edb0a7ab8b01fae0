import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { root } from './entries.ts';

/**
 * Names that two files of `src` define, and file names that it has twice: a reader of a stack trace or an import should
 * know at once which is meant. Entries (`index.ts`) only re-export.
 */
export function findRepeatedNames(sources: Readonly<Record<string, string>> = readSources()): string[] {
  const files = Object.keys(sources).filter((file) => basename(file) !== 'index.ts');
  const exported = files.flatMap((file) =>
    exportedNames(sources[file] ?? '').map((name) => [name, file] as const),
  );
  return [
    ...repeated(exported).map(([name, homes]) => `${name} is exported by ${homes.join(' and ')}`),
    ...repeated(files.map((file) => [basename(file), file] as const)).map(
      ([name, homes]) => `${name} is the name of ${homes.join(' and ')}`,
    ),
  ];
}

function readSources(): Record<string, string> {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root });
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

function repeated(pairs: readonly (readonly [name: string, file: string])[]): [string, string[]][] {
  const homes = new Map<string, Set<string>>();
  for (const [name, file] of pairs) homes.set(name, (homes.get(name) ?? new Set()).add(file));
  return [...homes].filter(([, files]) => files.size > 1).map(([name, files]) => [name, [...files].sort()]);
}

/** The names of a file's own exports. A default export has the name that its importer gives it. */
function exportedNames(text: string): string[] {
  const { statements } = ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest, true);
  return statements.filter(isNamedExport).flatMap((statement) => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [name.getText()];
  });
}

function isNamedExport(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  const kinds = modifiers.map(({ kind }) => kind);
  return kinds.includes(ts.SyntaxKind.ExportKeyword) && !kinds.includes(ts.SyntaxKind.DefaultKeyword);
}
