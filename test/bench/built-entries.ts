import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readEntries, root } from '../../tools/checks/entries.ts';

/*
 * What is measured is what is installed: the built files. They are loaded by URL, so that this folder compiles
 * before there is a build; their types are those of the source that they are built from.
 */

type Signature = typeof import('../../src/signature/index.ts');
type Events = typeof import('../../src/events/index.ts');

export const { signBody, verifyBody } = await load<Signature>('./signature');
export const { parseOrderEvent } = await load<Events>('./events');

/** Where the built file of an entry lies. */
export function builtUrl(subpath: string): string {
  const entry = readEntries().find((candidate) => candidate.subpath === subpath);
  if (entry === undefined) throw new Error(`package.json has no entry ${subpath}.`);
  return pathToFileURL(join(root, entry.built)).href;
}

function load<Module>(subpath: string): Promise<Module> {
  return import(builtUrl(subpath));
}
