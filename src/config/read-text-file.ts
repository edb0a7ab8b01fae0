import { invalidEnvironment } from './invalid-environment.ts';

/** A scheme has a few hundred bytes, a pin some thousands per sample. */
const maxBytes = 1_048_576;

/**
 * Reads a text file. `node:fs` is looked up when needed, not imported: the clients also load where there is none.
 *
 * @throws {ConfigurationError} without the path in its message
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

/** A code such as `ENOENT`. The system's message is not used, since it holds the path. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
