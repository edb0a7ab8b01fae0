import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entrySource } from '../entry-source.ts';

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
  readonly homepage: string;
  readonly files: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

/** Where the files are that the package leaves out: pages that ship link these there. */
export const repositoryFiles = `${readManifest().homepage}/blob/main/`;

/** Every command of the package, with its file below the package. */
export function readCommands(): Readonly<Record<string, string>> {
  const commands = Object.entries(readManifest().bin);
  return Object.fromEntries(commands.map(([name, file]) => [name, file.replace(/^\.\//, '')]));
}

/** Every entry that is code; `./package.json` is not. */
export function readEntries(): Entry[] {
  const manifest = readManifest();
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return [];
    const folder = subpath.slice(1);
    return [
      {
        subpath,
        specifier: `${manifest.name}${folder}`,
        source: entrySource(subpath, root),
        built: target.default.slice('./'.length),
      },
    ];
  });
}

export function readManifest(): Manifest {
  // Our own file; publint checks its form.
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
}
