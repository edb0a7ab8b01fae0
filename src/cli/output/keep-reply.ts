import { type FileHandle, open, rm } from 'node:fs/promises';
import { isRequestError } from '../../errors/request-error.ts';

/**
 * Writes the body of a reply into a new file, for its owner alone, and tells whether there was one. The file is made
 * before the request: a reply that cannot be kept would be lost.
 */
export async function keepReply(path: string, request: () => Promise<unknown>): Promise<boolean> {
  const file = await open(path, 'wx', 0o600);
  let isKept = false;
  try {
    isKept = await write(file, await request());
  } catch (error) {
    // A reply that came with an error may hold what was asked for all the same.
    if (isRequestError(error)) isKept = await write(file, error.body);
    throw error;
  } finally {
    if (!isKept) await rm(path);
    await file.close();
  }
  return isKept;
}

async function write(file: FileHandle, body: unknown): Promise<boolean> {
  if (body === undefined) return false;
  await file.writeFile(`${JSON.stringify(body, null, 2)}\n`);
  await file.sync();
  return true;
}
