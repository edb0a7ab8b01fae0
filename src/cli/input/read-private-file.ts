import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';

/** Keys are short: whatever is larger is another file. */
const maxBytes = 1024 * 1024;

/** The bytes of a file that only its owner may read. Refuses one that others can read. */
export async function readPrivateFile(context: CliContext, path: string): Promise<Uint8Array> {
  const file = await open(resolve(context.cwd, path));
  try {
    // Of the open file, which nobody can exchange any more.
    const stats = await file.stat();
    if (!stats.isFile()) throw new CliError(`${path} is not a file: name the JSON file that holds the keys.`);
    if (context.platform === 'win32') {
      context.stderr.write(
        `warning: Whether others can read ${path} cannot be told on Windows: check its permissions.\n`,
      );
    } else if ((stats.mode & 0o077) !== 0) {
      throw new CliError(
        `${path} can be read by other users: run "chmod 600 ${path}", and think of new keys.`,
      );
    }
    if (stats.size > maxBytes)
      throw new CliError(`${path} is too large to be a file of keys: check the path.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
