import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The top of the checkout. */
export const root = join(import.meta.dirname, '..', '..');

/** One entry of the package, as `exports` in package.json lists it. */
export interface Entry {
  /** `.` or `./signature`. */
  readonly subpath: string;
  /** What a user imports: `partner-exchange-sdk/signature`. */
  readonly specifier: string;
  /** Below the checkout: `src/signature/index.ts`. */
  readonly source: string;
  /** Below the checkout: `dist/signature.js`. */
  readonly built: string;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

/** Every entry that is code; `./package.json` is not. */
export function readEntries(): Entry[] {
  // Our own file; publint checks its form.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return [];
    const folder = subpath.slice(1);
    return [
      {
        subpath,
        specifier: `${manifest.name}${folder}`,
        source: `src${folder}/index.ts`,
        built: target.default.slice('./'.length),
      },
    ];
  });
}
