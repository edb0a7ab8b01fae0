import { posix } from 'node:path';
import ts from 'typescript';

/** How one file refers to another module. */
interface Import {
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
type ImportGraph = ReadonlyMap<string, readonly Import[]>;

/** @param sources text of each file, by path below the source folder, e.g. `signature/index.ts` */
export function readImportGraph(sources: Readonly<Record<string, string>>): ImportGraph {
  return new Map(Object.entries(sources).map(([file, text]) => [file, readImports(file, text)]));
}

/**
 * Folders of `src`, each level importing only levels above it (design: Shape). What runs in production stands above
 * `devtools`, and so imports nothing of it.
 */
const levels = [
  ['errors'],
  ['internal'],
  ['signature'],
  ['credentials'],
  ['deployment'],
  ['events'],
  ['store'],
  ['inbox'],
  ['client', 'webhooks'],
  ['orders', 'keys', 'otp'],
  ['devtools/diagnostics'],
  ['devtools/sandbox'],
  ['devtools/testing', 'devtools/inspector'],
  ['devtools/cli'],
] as const;

/** What a folder may not import although the order would let it: the sandbox is the other side of the wire. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'devtools/sandbox': ['client', 'webhooks'],
};

/** The folders whose types a folder may import although the order would not let it: an error has the state of an order. */
const memberTypes: Readonly<Record<string, readonly string[]>> = { errors: ['orders', 'otp'] };

/** Everything in the graph that breaks a rule of imports, each as one readable line. */
export function findBreaches(graph: ImportGraph): string[] {
  const breaches: string[] = [];
  for (const [file, imports] of graph) {
    for (const each of imports) {
      for (const problem of problemsOf(graph, file, each)) {
        breaches.push(`${file} -> ${each.specifier}: ${problem}`);
      }
    }
  }
  return [...breaches, ...findCycles(graph).map((cycle) => `cycle: ${cycle.join(' -> ')}`)];
}

/** The packages and built-in modules that running a file loads, types not counted. */
export function reachablePackages(graph: ImportGraph, entry: string): string[] {
  const packages = reachableFiles(graph, entry).flatMap((file) =>
    (graph.get(file) ?? [])
      .filter((each) => each.kind === 'runtime' && !isRelative(each))
      .map((each) => packageName(each.specifier)),
  );
  return [...new Set(packages)].sort();
}

/** The files that running a file loads, itself included, types not counted. */
export function reachableFiles(graph: ImportGraph, entry: string): string[] {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const each of graph.get(file) ?? []) {
      if (each.kind === 'runtime' && isRelative(each)) visit(each.target);
    }
  };
  visit(entry);
  return [...seen];
}

/** What starts processes, servers, browsers or database engines. */
const outsideUnitTests =
  /^(node:(child_process|cluster|dgram|http|http2|https|net|sqlite|tls|worker_threads)|playwright-core|bullmq|pg|pg-boss|ioredis(-5)?|redis|express|fastify|@hono\/node-server)$/;
/** What computes only. */
const computing: Readonly<Record<string, readonly string[]>> = {
  'node:net': ['BlockList', 'isIP', 'isIPv4', 'isIPv6'],
};
/** Of `src`: the engine of these is in Node itself, the others are given one. */
const databases = /^src\/.*sqlite/;

/**
 * Imports by which a unit test could start something outside its process: its own and those of the helpers that it
 * loads. What `src` imports does not count: a sandbox in process is a unit.
 *
 * @param graph of `src`, `test` and `tools`, by path below the root of the project
 */
export function findUnitBreaches(graph: ImportGraph): string[] {
  const tests = [...graph.keys()].filter(
    (file) => file.endsWith('.test.ts') && !/\.(integration|proof|check)\.test\.ts$/.test(file),
  );
  return tests.flatMap((test) =>
    testFilesOf(graph, test).flatMap((file) =>
      (graph.get(file) ?? [])
        .filter((each) => each.kind === 'runtime' && startsSomething(each))
        .map(({ specifier }) => `${test}: ${file} imports ${specifier}: name it .integration.test.ts`),
    ),
  );
}

function startsSomething(each: Import): boolean {
  if (isRelative(each)) return databases.test(each.target);
  const name = packageName(each.specifier);
  const harmless = computing[name] ?? [];
  if (each.names.length > 0 && each.names.every((one) => harmless.includes(one))) return false;
  return outsideUnitTests.test(name) || name.startsWith('@nestjs/');
}

/** The files of `test` and `tools` that running a test loads, itself included. */
function testFilesOf(graph: ImportGraph, test: string): string[] {
  const inTests = [...graph].filter(([file]) => !file.startsWith('src/'));
  return reachableFiles(new Map(inTests), test).filter((file) => !file.startsWith('src/'));
}

function problemsOf(graph: ImportGraph, file: string, each: Import): string[] {
  const problems: string[] = [];
  const isEntry = isIndex(file);
  if (each.form === 'export-star') problems.push('export *: re-export by name');
  if (each.form === 're-export' && !isEntry) problems.push('only an entry index.ts re-exports');
  if (!isRelative(each)) {
    if (each.specifier.startsWith('partner-exchange-sdk'))
      problems.push('the package imports itself by name');
    return problems;
  }
  if (!/\.tsx?$/.test(each.specifier)) problems.push('import without .ts');
  else if (!graph.has(each.target)) problems.push('leads to no file of src');
  if (isIndex(each.target) && !isEntry) problems.push('imports an index.ts: import the file that defines it');
  const isMember = each.kind === 'type' && memberTypes[folderOf(file)]?.includes(folderOf(each.target));
  // An entry is a contents page: it may name what users need beside its own folder, whatever the order.
  const order = isEntry || isMember ? undefined : orderProblem(folderOf(file), folderOf(each.target));
  return order === undefined ? problems : [...problems, order];
}

function orderProblem(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  const fromLevel = levelOf(from);
  const toLevel = levelOf(to);
  if (fromLevel === -1) return `folder ${from} has no place in the order`;
  if (toLevel === -1) return `folder ${to || 'src itself'} has no place in the order`;
  if (forbidden[from]?.includes(to)) return `${from} must not import ${to}`;
  if (toLevel < fromLevel) return undefined;
  return `against the order: ${from} must not import ${to}`;
}

/** One cycle for every set of files that import each other, types included. */
function findCycles(graph: ImportGraph): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) {
      cycles.push([...path.slice(start), file]);
      return;
    }
    if (done.has(file)) return;
    for (const each of graph.get(file) ?? []) {
      if (isRelative(each)) visit(each.target, [...path, file]);
    }
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

function levelOf(folder: string): number {
  return levels.findIndex((level) => level.some((name) => name === folder));
}

/** The folder that has a place in the order: `events`, or `devtools/sandbox`. */
function folderOf(file: string): string {
  const folders = file.split('/').slice(0, -1);
  return folders.slice(0, folders[0] === 'devtools' ? 2 : 1).join('/');
}

function isIndex(file: string): boolean {
  return file === 'index.ts' || file.endsWith('/index.ts');
}

function packageName(specifier: string): string {
  // These two are bundled, zod is not.
  if (specifier.startsWith('node:') || /^zod\/(?:mini|locales)$/.test(specifier)) return specifier;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function isRelative({ specifier }: Import): boolean {
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
