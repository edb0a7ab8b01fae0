import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The file of an entry, below `checkout`: in the half that runs in production, or in the tools. */
export function entrySource(subpath: string, checkout: string): string {
  const halves = ['src', 'src/devtools'].map((half) => `${half}${subpath.slice(1)}/index.ts`);
  const source = halves.find((file) => existsSync(join(checkout, file)));
  if (source === undefined) throw new Error(`No folder of src is the entry ${subpath}.`);
  return source;
}
