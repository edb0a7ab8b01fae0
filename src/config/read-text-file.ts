import { invalidEnvironment } from './invalid-environment.ts';

/** A scheme has a few hundred bytes, a pin some thousands for each sample. */
const maxBytes = 1_048_576;

/**
 * The text of a file. The file system is looked up when it is needed, not imported: the clients load where there is none.
 *
 * @throws {ConfigurationError} that does not show the path
 */
export function readTextFile(path: string): string {
  const fs = process.getBuiltinModule?.('node:fs');
  if (fs === undefined) throw invalidEnvironment('needs a file system, and this runtime has none.');
  try {
    const { size } = fs.statSync(path);
    if (size <= maxBytes) return fs.readFileSync(path, 'utf8');
  } catch (error) {
    throw invalidEnvironment(`names a file that cannot be read (${codeOf(error)}).`);
  }
  throw invalidEnvironment(`names a file of more than ${maxBytes} bytes.`);
}

/** `ENOENT` or the like; the message of the system holds the path. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
