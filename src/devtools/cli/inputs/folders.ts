import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../../errors/errors.ts';
import { randomBytes } from '../../../internal/options.ts';

/**
 * Makes a folder, and those above it, for this user alone. One that is there stays as it is. The recursive `mkdir` of
 * Node never ends where a folder says ENOENT although its parent exists, as below /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  const error = await tryMake(path);
  if (codeOf(error) !== 'ENOENT' || dirname(path) === path) return rejectUnlessFolder(path, error);
  await makeFolder(dirname(path));
  await rejectUnlessFolder(path, await tryMake(path));
}

/** Returns the error, `undefined` without one. */
async function tryMake(path: string): Promise<unknown> {
  return mkdir(path, { mode: 0o700 }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function rejectUnlessFolder(path: string, error: unknown): Promise<void> {
  if (error === undefined) return;
  if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
  throw error;
}

/**
 * Writes a file for its owner alone. Until it is whole it has a random name, under which no link can wait: half of a
 * delivery would be read as a body without its request.
 */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${Buffer.from(randomBytes(8)).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}
