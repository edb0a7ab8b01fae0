import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { readEntries, root } from '../../tools/checks/entries.ts';

/** A declaration that users see, or a member of one. */
type Documented = ts.Node & { readonly name?: ts.Node | undefined };

const sources = new Map<string, ts.SourceFile>();

function read(file: string): ts.SourceFile {
  const source =
    sources.get(file) ?? ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  sources.set(file, source);
  return source;
}

test('every exported name has a doc comment, and so has every member of an exported interface or class', () => {
  const exported = readEntries().flatMap(({ source }) => exportsOf(join(root, source)));
  expect(exported.length).toBeGreaterThan(300);
  const undocumented = exported.flatMap(({ file, name }) => undocumentedIn(read(file), name));
  expect([...new Set(undocumented)].sort()).toEqual([]);
});

test('a missing comment is noticed, of an export and of a member', () => {
  const text =
    'export interface A {\n  /** b */\n  b: 1;\n  c: 2;\n}\nexport function d() {}\n/** e */\nexport const e = 1;';
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
  expect(['A', 'd', 'e'].flatMap((name) => undocumentedIn(source, name))).toEqual(['A', 'A.c', 'd']);
});

/** The names that an entry re-exports, and the file that defines each. */
function exportsOf(entry: string) {
  return read(entry).statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier) return [];
    if (!ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const file = join(dirname(entry), statement.moduleSpecifier.text);
    if (!statement.exportClause || !ts.isNamedExports(statement.exportClause)) return [];
    return statement.exportClause.elements.map(({ name, propertyName }) => ({
      file,
      name: (propertyName ?? name).text,
    }));
  });
}

function undocumentedIn(source: ts.SourceFile, name: string): string[] {
  const found = source.statements.flatMap((statement): string[] => {
    if (ts.isVariableStatement(statement)) {
      const names = statement.declarationList.declarations.map((each) => each.name.getText());
      return names.includes(name) && !hasComment(statement) ? [name] : [];
    }
    const isDeclaration =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement);
    if (!isDeclaration || statement.name?.text !== name) return [];
    return [...(hasComment(statement) ? [] : [name]), ...undocumentedMembers(statement, name)];
  });
  // Of overloads one comment is enough.
  const isOverloaded = source.statements.filter(
    (each) => ts.isFunctionDeclaration(each) && each.name?.text === name,
  );
  return isOverloaded.length > 1 && found.length < isOverloaded.length ? [] : found;
}

function undocumentedMembers(declaration: ts.Node, owner: string): string[] {
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return [];
  // The members of an object of somebody else's: their own documentation describes them.
  if (/\* The parts\b.*\bthat we use/.test(declaration.getFullText())) return [];
  const members: readonly Documented[] = declaration.members;
  return members
    .filter((member) => !ts.isConstructorDeclaration(member) && isPublic(member) && !hasComment(member))
    .map(({ name }) => `${owner}.${name?.getText() ?? '()'}`);
}

function isPublic(member: Documented): boolean {
  const isPrivate = ts.canHaveModifiers(member)
    ? ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
    : false;
  return !isPrivate && !(member.name && ts.isPrivateIdentifier(member.name));
}

function hasComment(node: ts.Node): boolean {
  return ts.getJSDocCommentsAndTags(node).length > 0;
}
