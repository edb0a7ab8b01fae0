import { closeSync, constants, createReadStream, fstatSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { checkSecretText } from '../../../credentials/partner-credentials.ts';
import { codeOf, isConfigurationError, reworded, whatFailed } from '../../../errors/errors.ts';
import { isJsonObject, type JsonObject } from '../../../internal/json.ts';
import { parseJson } from '../../../internal/json-tree.ts';
import { redactCredentials } from '../../../internal/redact-credentials.ts';
import { decodeBody } from '../../../signature/signed-body.ts';
import { findLossyMember } from '../../diagnostics/find-lossy-member.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';

const maxBytes = 16 * 1024 * 1024;

/** The bytes of a file, or of stdin without a path or with `-`. At most 16 MiB. */
export async function readInput(context: CliContext, path: string | undefined): Promise<Uint8Array> {
  const { stdin, stderr, signal } = context;
  if (path !== undefined && path !== '-') {
    const file = openFile(context, path);
    try {
      // A stream takes ten times as long, and folders of deliveries hold 100,000 files.
      const bytes = fstatSync(file).size > maxBytes ? undefined : readFileSync(file);
      if (bytes === undefined || bytes.length > maxBytes) throw tooLarge(path);
      return bytes;
    } finally {
      closeSync(file);
    }
  }
  if (stdin.isTTY) stderr.write('Reading from the terminal: end with Ctrl-D on a line of its own.\n');
  return readStdin(stdin, signal);
}

/** Reads a file in pieces. */
export async function* readFile(context: CliContext, path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream('', { fd: openFile(context, path) });
}

/**
 * Opens a regular file to read, whose bytes are there: a FIFO keeps its reader waiting for a writer, and the process from
 * ending. Errors name a folder; that of the system does not.
 */
function openFile({ cwd }: CliContext, path: string): number {
  const file = openWithoutWaiting(cwd, path);
  const stats = fstatSync(file);
  if (stats.isFile()) return file;
  closeSync(file);
  throw new CliError(
    stats.isDirectory()
      ? `${shownPath(path)} is a folder: name a file in it.`
      : `${shownPath(path)} is not a regular file: name one, or give the content on stdin.`,
  );
}

function openWithoutWaiting(cwd: string, path: string): number {
  try {
    // Windows has no such flag.
    return openSync(resolve(cwd, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || !/^[a-z][a-z-]*=/.test(path)) throw error;
    throw new CliError('There is no such file: if that is an option, put two hyphens before it.');
  }
}

export function inputName(path: string | undefined): string {
  return path === undefined || path === '-' ? 'stdin' : path;
}

async function readStdin(stdin: CliContext['stdin'], signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  await pipeline(
    stdin,
    async (source: AsyncIterable<Buffer | string>) => {
      for await (const chunk of source) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        if (size > maxBytes) throw tooLarge('stdin');
        chunks.push(bytes);
      }
    },
    { signal },
  );
  return Buffer.concat(chunks);
}

function tooLarge(name: string): CliError {
  return new CliError(`${name} is larger than 16 MiB: give it one body at a time.`);
}

/** The JSON object in some bytes. The error holds nothing of them: they may be keys. */
export function readJsonObject(bytes: Uint8Array, name: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(decodeBody(bytes));
  } catch {
    throw new CliError(`${name} is not JSON in UTF-8: check the file.`);
  }
  if (isJsonObject(value)) return value;
  throw new CliError(`${name} is not a JSON object: check the file.`);
}

/** Reads a body that is written again: refuses a member that would change, and names it. */
export function readExactJsonObject(bytes: Uint8Array, name: string): JsonObject {
  const value = readJsonObject(bytes, name);
  const loss = lossIn(decodeBody(bytes));
  if (loss === undefined) return value;
  throw new CliError(`${name}: ${loss.path.join('.').slice(0, 200)} ${loss.message}.`);
}

function lossIn(text: string): ReturnType<typeof findLossyMember> {
  try {
    return findLossyMember(text);
  } catch (error) {
    // Nested too deeply: signing refuses it, with a message of its own.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A path as an error may show it: not if a key was typed in its place. */
export function shownPath(path: string): string {
  return redactCredentials(path) === path ? path : 'the file';
}

/** Names the file in the error of a configuration that was read from it. */
export function inFile<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    throw reworded(error, { what: `${shownPath(path)}: ${whatFailed(error)}` });
  }
}

interface ConfirmFlags {
  readonly yes: boolean;
}

/** Refuses at once if no person can be asked later: without a terminal, or if stdin holds data. */
export function requireConfirmable(
  { stdin, stderr }: CliContext,
  { yes, isStdinTaken = false }: ConfirmFlags & { readonly isStdinTaken?: boolean },
): void {
  if (yes || (stdin.isTTY && stderr.isTTY && !isStdinTaken)) return;
  throw new CliError(
    'Nothing was done, since nobody can be asked here: add --yes to go on without a question.',
  );
}

/** Asks before a step that cannot be undone. Throws unless the answer is yes. */
export async function confirm(context: CliContext, flags: ConfirmFlags, question: string): Promise<void> {
  requireConfirmable(context, flags);
  if (flags.yes || (await context.confirm(question))) return;
  throw new CliError('Stopped before anything was done.', { exitCode: exitCodes.stopped });
}

/**
 * The secret of a variable, or what the user types at a terminal, unseen. Never an argument: other users see those, and
 * the shell's history keeps them.
 */
export async function secretOrAsk(
  context: CliContext,
  { variable, value, question }: { variable: string; value: string | undefined; question: string },
): Promise<string> {
  if (value !== undefined) return value;
  if (!context.stdin.isTTY || !context.stderr.isTTY) {
    throw new CliError(`${variable} is not set: set it, or run this in a terminal to be asked for it.`);
  }
  const answer = await context.askHidden(question);
  if (answer === undefined) {
    throw new CliError('Stopped before anything was done.', { exitCode: exitCodes.stopped });
  }
  context.secrets.add(answer);
  return checkSecretText(answer, variable);
}
