import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { inputName, readInput } from '../input/read-input.ts';
import { type Delivery, readDelivery } from './delivery-file.ts';

export interface NamedDelivery extends Delivery {
  /** The file, or `stdin`. */
  readonly source: string;
}

/**
 * Reads deliveries: files that `listen --save` wrote, bare bodies, folders of both in the order of their names, or
 * stdin when nothing is named.
 */
export async function readDeliveries(
  context: CliContext,
  paths: readonly string[],
): Promise<NamedDelivery[]> {
  const files =
    paths.length === 0 ? [undefined] : (await Promise.all(paths.map((path) => expand(context, path)))).flat();
  const deliveries: NamedDelivery[] = [];
  for (const file of files) {
    const source = inputName(file);
    deliveries.push({ source, ...readDelivery(await readInput(context, file), source) });
  }
  return deliveries;
}

async function expand(context: CliContext, path: string): Promise<string[]> {
  if (path === '-') return [path];
  const absolute = resolve(context.cwd, path);
  if (!(await stat(absolute)).isDirectory()) return [path];
  const names = (await readdir(absolute)).filter((name) => name.endsWith('.json')).sort();
  if (names.length === 0)
    throw new CliError(`${path} holds no .json file: name a folder of saved deliveries.`);
  return names.map((name) => join(path, name));
}
