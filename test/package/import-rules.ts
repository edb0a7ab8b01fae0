import { type Import, type ImportGraph, isRelative } from './import-graph.ts';

/** Folders of `src`, each level importing only levels above it (design: Shape). */
const levels = [
  ['errors'],
  ['internal'],
  ['signature'],
  ['credentials'],
  ['deployment'],
  ['config', 'events'],
  ['store', 'http'],
  ['inbox'],
  ['exchange', 'messenger', 'webhooks'],
  ['orders', 'rotation', 'otp', 'bulk', 'diagnostics'],
  ['sandbox'],
  ['testing', 'inspector'],
  ['contract'],
  ['cli'],
] as const;

/** What a folder may not import although the order would let it: the sandbox is the other side of the wire. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['http', 'exchange', 'messenger', 'webhooks'],
};

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
  /^(node:(child_process|cluster|dgram|http|http2|https|net|sqlite|tls|worker_threads)|playwright-core|autocannon|bullmq|pg|pg-boss|ioredis(-5)?|redis(-4)?|express|fastify|@hono\/node-server)$/;
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
 * @param graph of `src` and `test`, by path below the root of the project
 */
export function findUnitBreaches(graph: ImportGraph): string[] {
  const tests = [...graph.keys()].filter(
    (file) => file.endsWith('.test.ts') && !file.endsWith('.integration.test.ts'),
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

/** The files of `test` that running a test loads, itself included. */
function testFilesOf(graph: ImportGraph, test: string): string[] {
  const inTests = [...graph].filter(([file]) => file.startsWith('test/'));
  return reachableFiles(new Map(inTests), test).filter((file) => file.startsWith('test/'));
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
  // An entry is a contents page: it may name what users need beside its own folder, whatever the order.
  const order = isEntry ? undefined : orderProblem(folderOf(file), folderOf(each.target));
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

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}

function isIndex(file: string): boolean {
  return file === 'index.ts' || file.endsWith('/index.ts');
}

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
