import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isJsonObject } from '../../json/json-value.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';

/** What a package exports that is installed in the user's project, or above it. Ours do not come with this one. */
export async function loadOptionalPackage(
  { cwd }: CliContext,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  let path: string;
  try {
    path = createRequire(join(cwd, 'any-file.js')).resolve(name);
  } catch (cause) {
    throw new CliError(
      `This needs the package ${name}, which is not installed here: run "npm install ${name}".`,
      {
        cause,
      },
    );
  }
  const loaded: Record<string, unknown> = await import(pathToFileURL(path).href);
  // Of a CommonJS package some names are only on the default export.
  const { default: main } = loaded;
  const members = typeof main === 'function' ? { ...main } : isJsonObject(main) ? main : {};
  return { ...members, ...loaded };
}
