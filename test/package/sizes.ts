import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { readEntries, root } from './entries.ts';

interface Limit {
  /** The aim, in bytes; 1 kB is 1,000 bytes (design: Budgets). */
  readonly budget?: number;
  /** More than this fails: what there is now, and little above. */
  readonly ceiling: number;
}

const signingOnly = './signature, signing and verifying alone';

/**
 * Three are over their budget since schemes became what senders really do: thirteen serialisations instead of three,
 * and a text scanner for all of them.
 */
const limits: Readonly<Record<string, Limit>> = {
  '.': { budget: 12_000, ceiling: 14_500 },
  './signature': { ceiling: 18_500 },
  [signingOnly]: { budget: 3_000, ceiling: 6_500 },
  './webhooks': { budget: 7_000, ceiling: 13_200 },
};

/** An entry as an application's bundler would ship it: minified, without zod and ky. */
export interface EntryBundle {
  /** What it is called in the table. */
  readonly subpath: string;
  /** The entry that it is, or is a part of. */
  readonly entry: string;
  /** Bytes after gzip. */
  readonly size: number;
  readonly budget: number | undefined;
  readonly ceiling: number | undefined;
  /** Packages and built-in modules that the built entry loads. */
  readonly reached: readonly string[];
}

export async function bundleEntries(): Promise<EntryBundle[]> {
  const whole = readEntries().map(({ subpath, built }) =>
    bundle(subpath, { entryPoints: [join(root, built)] }),
  );
  const contents = `export { signBody, verifyBody, signingKey, defaultScheme } from './dist/signature.js';`;
  return Promise.all([...whole, bundle(signingOnly, { stdin: { contents, resolveDir: root } })]);
}

/** Throws when the entry is larger than its ceiling. */
export function checkSize({ subpath, size, ceiling }: EntryBundle): void {
  if (ceiling !== undefined && size > ceiling) {
    throw new Error(`${subpath} has ${size} bytes, ${size - ceiling} more than its ceiling.`);
  }
}

export function printSizes(bundles: readonly EntryBundle[]): void {
  console.log('\nMinified + gzip, without zod and ky (1 kB = 1000 bytes):');
  for (const { subpath, size, budget } of bundles) {
    const limit = budget === undefined ? '' : `of ${kB(budget)} ${size > budget ? 'OVER' : 'ok'}`;
    console.log(`  ${subpath.padEnd(signingOnly.length)} ${kB(size).padStart(9)} ${limit}`.trimEnd());
  }
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`;
}

async function bundle(subpath: string, source: BuildOptions): Promise<EntryBundle> {
  const { outputFiles, metafile } = await build({
    ...source,
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
  const { budget, ceiling } = limits[subpath] ?? {};
  return {
    subpath,
    entry: subpath.split(',')[0] ?? subpath,
    size: outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0),
    budget,
    ceiling,
    reached: [...new Set(reached)].sort(),
  };
}

if (import.meta.main) {
  const bundles = await bundleEntries();
  printSizes(bundles);
  for (const each of bundles) checkSize(each);
}
