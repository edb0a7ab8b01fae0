import { chmodSync, copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { scratchFolder } from '../support/scratch.ts';

const parent = join(import.meta.dirname, 'written-by');

/** The formats as one release wrote them. */
export interface Fixtures {
  readonly release: string;
  readonly folder: string;
  /** The JSON of a file: its reader says which form it has. */
  json<Value>(name: string): Value;
  text(name: string): string;
  /** A copy that a test may change, and that only its user can read. */
  copy(name: string): string;
  names(folder: string): string[];
}

/** Of every release. They stay for good: an update must read what an older version has stored. */
export const allFixtures: readonly Fixtures[] = readdirSync(parent)
  .sort()
  .map((release) => {
    const folder = join(parent, release);
    const text = (name: string) => readFileSync(join(folder, name), 'utf8');
    return {
      release,
      folder,
      text,
      json: (name) => JSON.parse(text(name)),
      copy(name) {
        const path = join(scratchFolder(), basename(name));
        copyFileSync(join(folder, name), path);
        chmodSync(path, 0o600);
        return path;
      },
      names: (name) => readdirSync(join(folder, name)).sort(),
    };
  });
