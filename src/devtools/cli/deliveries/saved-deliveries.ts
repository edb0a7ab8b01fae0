import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isJsonObject, type JsonValue, tryParse } from '../../../internal/json.ts';
import { decodeUtf8 } from '../../../internal/utf8.ts';
import { refuseNewer } from '../../../store/stored-form.ts';
import { deliveryFileFormat } from '../../diagnostics/detection/samples.ts';
import { inputName, readInput } from '../inputs/input.ts';
import { type CliContext, CliError } from '../terminal/context.ts';

/** Marks the files of deliveries, and the version of their form (docs/cli.md). */
const format = `${deliveryFileFormat}1`;

/** A request as it was received, or as it will be posted. */
export interface SavedRequest {
  /** The time in ISO 8601; `undefined` for a body without its request. */
  readonly receivedAt?: string | undefined;
  /** Path and query, as they were sent. */
  readonly target?: string | undefined;
  /** The headers in their order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** The text of a file that keeps a delivery byte for byte. */
export function writeSavedRequest({ receivedAt, target, headers, body }: SavedRequest): string {
  const text = decodeUtf8(body);
  const content = text === undefined ? { bodyBase64: Buffer.from(body).toString('base64') } : { body: text };
  return `${JSON.stringify({ format, receivedAt, target, headers, ...content }, null, 2)}\n`;
}

/** Without the byte order mark that an editor or a sender begins it with. */
export function parseBytes(bytes: Uint8Array): JsonValue | undefined {
  return tryParse((decodeUtf8(bytes) ?? '').replace(/^\uFEFF/, ''));
}

/** The delivery in a file: one that was written by {@link writeSavedRequest}, or a bare body. */
export function readSavedRequest(bytes: Uint8Array, name: string): SavedRequest {
  const value = parseBytes(bytes);
  if (!isJsonObject(value)) return { headers: [], body: bytes };
  const { format: form } = value;
  if (typeof form === 'string' && form.startsWith(deliveryFileFormat))
    refuseNewer({ version: Number(form.slice(deliveryFileFormat.length)) }, name);
  // A body may have a member of that name.
  if (form !== format) return { headers: [], body: bytes };
  const { receivedAt, target, headers, body, bodyBase64 } = value;
  const content = typeof bodyBase64 === 'string' ? Buffer.from(bodyBase64, 'base64') : body;
  if (!isHeaders(headers) || (typeof content !== 'string' && !ArrayBuffer.isView(content))) {
    throw new CliError(`${name} is not a complete saved delivery: save it again with "listen --save".`);
  }
  return {
    receivedAt: typeof receivedAt === 'string' ? receivedAt : undefined,
    target: typeof target === 'string' && target.startsWith('/') ? target : undefined,
    headers,
    body: Buffer.from(content),
  };
}

function isHeaders(value: JsonValue | undefined): value is [string, string][] {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string'),
    )
  );
}

export interface NamedDelivery extends SavedRequest {
  /** The file, or `stdin`. */
  readonly source: string;
}

/** The deliveries of these files, one file after the other; `-` is stdin. One that cannot be read is passed to `onProblem`. */
export async function* eachDelivery(
  context: CliContext,
  files: readonly string[],
  onProblem: (problem: { readonly source: string; readonly error: unknown }) => void,
): AsyncGenerator<NamedDelivery> {
  for (const [index, file] of files.entries()) {
    // Files are read at once, so that an interruption needs a turn.
    if (index % 100 === 99) await setImmediate();
    const source = inputName(file);
    try {
      context.signal.throwIfAborted();
      const request = readSavedRequest(await readInput(context, file), source);
      yield { source, ...request };
    } catch (error) {
      if (context.signal.aborted) return;
      onProblem({ source, error });
    }
  }
}

/**
 * The files of files and folders, in the order of their names; stdin if nothing is named.
 *
 * @param ending what the name of a file in a folder ends with
 */
export async function expandPaths(
  context: CliContext,
  paths: readonly string[],
  ending = /\.json$/,
): Promise<readonly string[]> {
  if (paths.length === 0) return ['-'];
  return (await Promise.all(paths.map((path) => expand(context, path, ending)))).flat();
}

async function expand(context: CliContext, path: string, ending: RegExp): Promise<string[]> {
  if (path === '-' || !(await stat(resolve(context.cwd, path))).isDirectory()) return [path];
  const names = (await readdir(resolve(context.cwd, path))).filter((name) => ending.test(name)).sort();
  if (names.length === 0)
    throw new CliError(`${path} holds no .json file: name a folder of saved deliveries.`);
  return names.map((name) => join(path, name));
}
