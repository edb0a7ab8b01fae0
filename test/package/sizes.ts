import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { type Entry, readEntries, root } from './entries.ts';

/** At most so many bytes; 1 kB is 1,000 bytes (design: Budgets). */
const sizeBudgets: Readonly<Record<string, number>> = {
  './signature': 3_000,
  './webhooks': 7_000,
  '.': 12_000,
};

/** An entry as an application's bundler would ship it: minified, without zod and ky. */
export interface EntryBundle {
  readonly subpath: string;
  /** Bytes after gzip. */
  readonly size: number;
  readonly budget: number | undefined;
  /** Packages and built-in modules that the built entry loads. */
  readonly reached: readonly string[];
}

export function bundleEntries(): Promise<EntryBundle[]> {
  return Promise.all(readEntries().map(bundle));
}

/** Throws when the entry is larger than its budget. */
export function checkSize({ subpath, size, budget }: EntryBundle): void {
  if (budget !== undefined && size > budget) {
    throw new Error(`${subpath} has ${size} bytes, ${size - budget} more than its budget.`);
  }
}

export function printSizes(bundles: readonly EntryBundle[]): void {
  console.log('\nMinified + gzip, without zod and ky (1 kB = 1000 bytes):');
  for (const { subpath, size, budget } of bundles) {
    const limit = budget === undefined ? '' : `of ${kB(budget)}`;
    console.log(`  ${subpath.padEnd(12)} ${kB(size).padStart(9)} ${limit}`.trimEnd());
  }
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`;
}

async function bundle({ subpath, built }: Entry): Promise<EntryBundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(root, built)],
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
    budget: sizeBudgets[subpath],
    reached: [...new Set(reached)].sort(),
  };
}

if (import.meta.main) {
  const bundles = await bundleEntries();
  printSizes(bundles);
  for (const each of bundles) checkSize(each);
}
