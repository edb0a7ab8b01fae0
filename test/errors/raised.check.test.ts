import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { remedies } from '../../tools/documents/error-tables.ts';

const root = join(import.meta.dirname, '..', '..');
const codes: Readonly<Record<string, object>> = remedies;
const { checker, sources } = readSources();

/** The sources with their types. Nothing is reported, so only what is asked for is checked. */
function readSources() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const files = ts.sys.readDirectory(join(root, 'src'), ['.ts', '.tsx']);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  return {
    checker: program.getTypeChecker(),
    sources: files.flatMap((file) => program.getSourceFile(file) ?? []),
  };
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

/** Each text in a place whose type is a code, as an argument, a member or a result: `<kind> <code>`. */
function raised(): Set<string> {
  const found = new Set<string>();
  for (const source of sources.filter(({ fileName }) => !fileName.endsWith('/errors/remedies.ts'))) {
    visit(source, (node) => {
      if (!ts.isStringLiteral(node) || !Object.values(codes).some((own) => node.text in own)) return;
      // A class with one code gives it to the base class.
      if (ts.isCallExpression(node.parent) && node.parent.expression.kind === ts.SyntaxKind.SuperKeyword) {
        found.add(`${ts.findAncestor(node, ts.isClassDeclaration)?.name?.text} ${node.text}`);
      }
      const texts = textsOf(checker.getContextualType(node));
      for (const [kind, own] of Object.entries(codes)) {
        if (texts.length > 0 && texts.every((text) => text in own)) found.add(`${kind} ${node.text}`);
      }
    });
  }
  return found;
}

/** The texts of a union of texts, without `undefined`; empty for any other type. */
function textsOf(type: ts.Type | undefined): string[] {
  const all = type?.isUnion() ? type.types : type ? [type] : [];
  const parts = all.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
  return parts.every((part) => part.isStringLiteral()) ? parts.map(({ value }) => String(value)) : [];
}

const known = raised();

it('every code of the table is raised in src', () => {
  const all = Object.entries(codes).flatMap(([kind, own]) =>
    Object.keys(own).map((code) => `${kind} ${code}`),
  );
  expect(all.filter((code) => !known.has(code))).toEqual([]);
});

describe('@throws in a doc comment', () => {
  it('names codes that its class has, and that something raises', () => {
    const wrong = sources
      .filter(({ fileName }) => !/\/src\/(?:cli|inspector)\//.test(fileName))
      .flatMap(({ fileName, text }) =>
        wrongThrows(text).map((each) => `${fileName.slice(root.length + 1)}: ${each}`),
      );
    expect(wrong).toEqual([]);
  });

  it('is noticed with a code that nothing raises, and with a code of another class', () => {
    const text =
      '/** @throws {StoreError} `store_closed` */\n/**\n * @throws {StoreError} `store_gone`\n * @throws {KeyError} `store_closed`\n */';
    expect(wrongThrows(text)).toEqual(['StoreError store_gone', 'KeyError store_closed']);
  });
});

/** The codes behind each `@throws` of a class of ours that it does not raise. */
function wrongThrows(text: string): string[] {
  const tags = text.matchAll(/@throws \{(\w+)\}((?:(?!\*\/|@\w)[\s\S])*)/g);
  return [...tags]
    .filter(([, kind = '']) => kind in codes)
    .flatMap(([, kind, words = '']) => {
      const named = [...words.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code]) => `${kind} ${code}`);
      return named.filter((each) => !known.has(each) && !/ (?:partner_order_id|to_phone)$/.test(each));
    });
}

it('each part of a message is one sentence: what failed, and what to do', () => {
  const longer: string[] = [];
  for (const source of sources) {
    visit(source, (node) => {
      const name = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression.getText() : '';
      if (!(name in codes) && !/^(?:invalid\w*|fail|unreadable\w*)$/.test(name)) return;
      visit(node, (inner) => {
        const isText = ts.isStringLiteralLike(inner) || ts.isTemplateLiteralToken(inner);
        if (isText && /\w[)"}']*[.?!] [A-Z]/.test(inner.text)) longer.push(inner.text);
      });
    });
  }
  expect(longer).toEqual([]);
});

it('no text of the library names a command: the command line adds its own', () => {
  const named: string[] = [];
  for (const source of sources.filter(({ fileName }) => !fileName.includes('/src/devtools/'))) {
    visit(source, (node) => {
      // The form of a variable is a cell of the guide, not of a message.
      const isForm =
        ts.isPropertyAssignment(node.parent ?? node) && node.parent.getText().startsWith('form:');
      const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node);
      if (isText && !isForm && /\bpartner-exchange [a-z]/.test(node.text)) named.push(node.text);
    });
  }
  expect(named).toEqual([]);
});
