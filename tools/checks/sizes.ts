import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { type Entry, readEntries, root } from './entries.ts';

/** What to aim at, in bytes; 1 kB is 1,000 bytes (design: Budgets). It informs: what may not leak in is checked. */
const budgets: Readonly<Record<string, number>> = { '.': 14_000, './signature': 6_000, './webhooks': 30_000 };

/** An entry as an application's bundler would ship it: minified, without zod and ky. */
export interface EntryBundle {
  readonly subpath: string;
  /** Bytes after gzip. */
  readonly size: number;
  readonly budget: number | undefined;
  /** How many built files are loaded with it; each takes about half a millisecond. */
  readonly loads: number;
  /** The files of `src` that the built entry loads, as its source maps tell. */
  readonly files: readonly string[];
  /** Packages and built-in modules that the built entry loads. */
  readonly reached: readonly string[];
}

export function bundleEntries(): Promise<EntryBundle[]> {
  return Promise.all(readEntries().map(bundle));
}

export function printSizes(bundles: readonly EntryBundle[]): void {
  console.log('\nMinified + gzip, without zod and ky (1 kB = 1000 bytes):');
  for (const { subpath, size, budget, loads } of bundles) {
    const limit = budget === undefined ? '' : `of ${kB(budget)} ${size > budget ? 'OVER' : 'ok'}`;
    console.log(
      `  ${subpath.padEnd(16)} ${kB(size).padStart(9)}, ${`${loads}`.padStart(2)} files ${limit}`.trimEnd(),
    );
  }
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`;
}

async function bundle({ subpath, built }: Entry): Promise<EntryBundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(root, built)],
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    external: ['zod', 'ky', 'node:*'],
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const reached = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return {
    subpath,
    size: outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0),
    budget: budgets[subpath],
    loads: loadedWith(built, metafile).size,
    files: Object.keys(metafile.inputs).flatMap(sourcesOf),
    reached: [...new Set(reached)].sort(),
  };
}

/** The built files that loading an entry loads, without those that it imports later. */
function loadedWith(file: string, metafile: Metafile, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind, external } of metafile.inputs[file]?.imports ?? []) {
    if (kind === 'import-statement' && !external) loadedWith(path, metafile, seen);
  }
  return seen;
}

/** The files of `src` that a built file was made of. */
function sourcesOf(built: string): string[] {
  // tsup's own output; a map lists its sources relative to itself.
  const { sources } = JSON.parse(readFileSync(join(root, `${built}.map`), 'utf8')) as { sources: string[] };
  return sources.map((source) => relative(join(root, 'src'), join(root, dirname(built), source)));
}

if (import.meta.main) printSizes(await bundleEntries());
