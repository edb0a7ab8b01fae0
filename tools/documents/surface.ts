import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Entry, readEntries, root } from '../checks/entries.ts';

/*
 * The public surface of each entry, in etc/api: the declarations that users get, sorted and without comments, so that a
 * change of the surface shows in a diff. `npm run api` writes it after a build; `check:package` compares.
 */

const folder = join(root, 'etc', 'api');

/** Says which files in etc/api differ from the built declarations. */
export function findSurfaceProblems(): string[] {
  return [...readSurfaces()].flatMap(([file, text]) => {
    const isCurrent = readIfThere(join(folder, file)) === text;
    return isCurrent
      ? []
      : [`etc/api/${file} is not the surface of this build: npm run build && npm run api`];
  });
}

/** The text of each file of etc/api, from the declarations in dist. */
function readSurfaces(): ReadonlyMap<string, string> {
  const entries = readEntries();
  const program = ts.createProgram(entries.map(declarationsOf), {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: ['node'],
  });
  const checker = program.getTypeChecker();
  const exportsOf = (entry: Entry): ReadonlyMap<ts.Symbol, string> => {
    const source = program.getSourceFile(declarationsOf(entry));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${declarationsOf(entry)} exports nothing: build first.`);
    return new Map(
      checker.getExportsOfModule(module).map((symbol) => [originalOf(symbol, checker), symbol.name]),
    );
  };
  const tables = entries.map((entry) => ({ entry, exported: exportsOf(entry) }));
  const elsewhere = new Set(tables.flatMap(({ exported }) => [...exported.keys()]));
  return new Map(
    tables.map(({ entry, exported }) => {
      const text = surfaceOf(exported, { elsewhere, checker });
      return [fileOf(entry), `# ${entry.specifier}\n\n\`\`\`ts\n${text}\`\`\`\n`];
    }),
  );
}

/** The declarations of what an entry exports, and of what these use and no entry exports. */
function surfaceOf(
  exported: ReadonlyMap<ts.Symbol, string>,
  { elsewhere, checker }: { readonly elsewhere: ReadonlySet<ts.Symbol>; readonly checker: ts.TypeChecker },
): string {
  const printer = ts.createPrinter({ removeComments: true });
  const reached = new Map(exported);
  const declarations: { readonly name: string; readonly text: string }[] = [];
  // A symbol that is reached on the way is added to the map, and visited in its turn.
  for (const [symbol, name] of reached) {
    const own = symbol.declarations?.filter((each) => isOurs(each.getSourceFile())) ?? [];
    const texts = own.map((declaration) => {
      visit(declaration);
      return printer.printNode(
        ts.EmitHint.Unspecified,
        withSortedUnions(statementOf(declaration)),
        declaration.getSourceFile(),
      );
    });
    const origin = exported.has(symbol) ? name : `${name}, not exported`;
    if (texts.length > 0) declarations.push({ name, text: `// ${origin}\n${texts.join('\n')}\n` });
  }
  return declarations
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
    .map(({ text }) => text)
    .join('\n');

  function visit(node: ts.Node): void {
    const used = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    const symbol = used && originalOf(used, checker);
    const declaration = symbol?.declarations?.[0];
    if (symbol && !elsewhere.has(symbol) && declaration && isTopLevel(declaration) && !reached.has(symbol))
      reached.set(symbol, symbol.name);
    ts.forEachChild(node, visit);
  }
}

/** The compiler orders the literals of an inferred union by what it read first, which differs from build to build. */
function withSortedUnions(statement: ts.Node): ts.Node {
  const { transformed } = ts.transform(statement, [
    (context) => {
      const sorted = (node: ts.Node): ts.Node => {
        const visited = ts.visitEachChild(node, sorted, context);
        if (!ts.isUnionTypeNode(visited)) return visited;
        const literals = visited.types.filter(ts.isLiteralTypeNode);
        if (literals.length < visited.types.length) return visited;
        const inOrder = literals.toSorted((left, right) => (literalOf(left) < literalOf(right) ? -1 : 1));
        return ts.factory.createUnionTypeNode(inOrder);
      };
      return sorted;
    },
  ]);
  return transformed[0] ?? statement;
}

const literalOf = ({ literal }: ts.LiteralTypeNode) => (ts.isLiteralExpression(literal) ? literal.text : '');

function originalOf(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function statementOf(declaration: ts.Declaration): ts.Node {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

function isTopLevel(declaration: ts.Declaration): boolean {
  const { parent } = ts.isSourceFile(declaration) ? declaration : statementOf(declaration);
  return parent !== undefined && ts.isSourceFile(parent) && isOurs(parent);
}

const isOurs = ({ fileName }: ts.SourceFile) => fileName.startsWith(join(root, 'dist').replaceAll('\\', '/'));

const declarationsOf = ({ built }: Entry) => join(root, built.replace(/\.js$/, '.d.ts'));

const fileOf = ({ subpath }: Entry) =>
  `${subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '-')}.api.md`;

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of readSurfaces()) writeFileSync(join(folder, file), text);
}
