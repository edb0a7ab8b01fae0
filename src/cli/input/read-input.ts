import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';

/** More than any body that the SDK accepts by default, so that `explain` can say what is wrong with such a one. */
const maxBytes = 16 * 1024 * 1024;

/** The bytes of a file, or of stdin without a path or with `-`. */
export async function readInput(context: CliContext, path: string | undefined): Promise<Uint8Array> {
  if (path !== undefined && path !== '-') {
    return readStream(createReadStream(resolve(context.cwd, path)), { name: path, signal: context.signal });
  }
  if (context.stdin.isTTY)
    context.stderr.write('Reading from the terminal: end with Ctrl-D on a line of its own.\n');
  return readStream(context.stdin, { name: 'stdin', signal: context.signal });
}

/** What to call an input in messages. */
export function inputName(path: string | undefined): string {
  return path === undefined || path === '-' ? 'stdin' : path;
}

async function readStream(
  stream: NodeJS.ReadableStream,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  await pipeline(
    stream,
    async (source: AsyncIterable<Buffer | string>) => {
      for await (const chunk of source) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        if (size > maxBytes) throw new CliError(`${name} is larger than 16 MiB: give it one body at a time.`);
        chunks.push(bytes);
      }
    },
    { signal },
  );
  return Buffer.concat(chunks);
}
