import { posix } from 'node:path';
import ts from 'typescript';

/** How one file refers to another module. */
export interface Import {
  readonly specifier: string;
  /** The file it leads to, below `src`; for a package its specifier. */
  readonly target: string;
  /** `type`: gone after compilation. */
  readonly kind: 'runtime' | 'type';
  readonly form: 'import' | 're-export' | 'export-star';
  /** Of `import { … }`, as the other module calls them. */
  readonly names: readonly string[];
}

/** The files of a source folder, by path below it, with everything they import. */
export type ImportGraph = ReadonlyMap<string, readonly Import[]>;

/** @param sources text of each file, by path below the source folder, e.g. `signature/index.ts` */
export function readImportGraph(sources: Readonly<Record<string, string>>): ImportGraph {
  return new Map(Object.entries(sources).map(([file, text]) => [file, readImports(file, text)]));
}

export function isRelative({ specifier }: Import): boolean {
  return specifier.startsWith('.');
}

function readImports(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (
    specifier: string,
    kind: Import['kind'],
    form: Import['form'],
    names: readonly string[] = [],
  ) => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
    found.push({ specifier, target, kind, form, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      // With verbatimModuleSyntax `import { type A }` stays as `import {}`: only `import type` is gone.
      const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      const bindings = node.importClause?.namedBindings;
      const named = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : [];
      const names = named.map(({ name, propertyName }) => (propertyName ?? name).text);
      add(node.moduleSpecifier.text, typeOnly ? 'type' : 'runtime', 'import', names);
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      const named = node.exportClause && ts.isNamedExports(node.exportClause);
      add(
        node.moduleSpecifier.text,
        node.isTypeOnly ? 'type' : 'runtime',
        named ? 're-export' : 'export-star',
      );
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) add(node.argument.literal.text, 'type', 'import');
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      add(specifier && ts.isStringLiteral(specifier) ? specifier.text : '(computed)', 'runtime', 'import');
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false));
  return found;
}
