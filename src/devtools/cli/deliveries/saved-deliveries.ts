import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { isJsonObject, type JsonValue, tryParse } from '../../../internal/json.ts';
import { hidden } from '../../../internal/redact-credentials.ts';
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
  /** The status that its sender was answered with; `undefined` if that was not kept. */
  readonly answered?: number | undefined;
}

/** The text of a file that keeps a delivery byte for byte. */
export function writeSavedRequest({ receivedAt, target, headers, body, answered }: SavedRequest): string {
  const text = decodeUtf8(body);
  const content = text === undefined ? { bodyBase64: Buffer.from(body).toString('base64') } : { body: text };
  return `${JSON.stringify({ format, receivedAt, target, answered, headers, ...content }, null, 2)}\n`;
}

/** The delivery in a file: one that was written by {@link writeSavedRequest}, or a bare body. */
export function readSavedRequest(bytes: Uint8Array, name: string): SavedRequest {
  return savedRequestOf({ bytes, name, value: parseBytes(bytes) });
}

/** Without the byte order mark that an editor or a sender begins it with. */
export function parseBytes(bytes: Uint8Array): JsonValue | undefined {
  return tryParse((decodeUtf8(bytes) ?? '').replace(/^\uFEFF/, ''));
}

interface ReadFile {
  readonly bytes: Uint8Array;
  readonly name: string;
  /** What is in it as JSON. */
  readonly value: JsonValue | undefined;
}

function savedRequestOf({ bytes, name, value }: ReadFile): SavedRequest {
  if (!isJsonObject(value)) return { headers: [], body: bytes };
  const { format: form } = value;
  if (typeof form === 'string' && form.startsWith(deliveryFileFormat))
    refuseNewer({ version: Number(form.slice(deliveryFileFormat.length)) }, name);
  // A body may have a member of that name.
  if (form !== format) return { headers: [], body: bytes };
  const { receivedAt, target, answered, headers, body, bodyBase64 } = value;
  const content = typeof bodyBase64 === 'string' ? Buffer.from(bodyBase64, 'base64') : body;
  if (!isHeaders(headers) || (typeof content !== 'string' && !ArrayBuffer.isView(content))) {
    throw new CliError(`${name} is not a complete saved delivery: save it again with "listen --save".`);
  }
  return {
    receivedAt: typeof receivedAt === 'string' ? receivedAt : undefined,
    target: typeof target === 'string' && target.startsWith('/') ? target : undefined,
    headers,
    body: Buffer.from(content),
    ...(typeof answered === 'number' && { answered }),
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
  /** The file, or `stdin`; of traffic with the id of the event. */
  readonly source: string;
  /** Parts that the traffic does not hold, since they had a key in them: names of headers, its path, its whole body. */
  readonly lacks?: readonly string[];
}

/**
 * Reads deliveries: files of `listen --save`, traffic of the inspector, bare bodies, and folders of these
 * in the order of their names; stdin if nothing is named.
 */
export async function readDeliveries(
  context: CliContext,
  paths: readonly string[],
): Promise<NamedDelivery[]> {
  const deliveries: NamedDelivery[] = [];
  for (const file of await expandPaths(context, paths)) deliveries.push(...(await readFileOf(context, file)));
  return deliveries;
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
    try {
      context.signal.throwIfAborted();
      yield* await readFileOf(context, file);
    } catch (error) {
      if (context.signal.aborted) return;
      onProblem({ source: inputName(file), error });
    }
  }
}

/** An inspector keeps 64 Mi characters of bodies. */
const maxTrafficMiB = 256;

async function readFileOf(context: CliContext, file: string): Promise<NamedDelivery[]> {
  const source = inputName(file);
  const bytes = await readInput(context, file, { maxMiB: maxTrafficMiB });
  // Parsed once: a folder may have 100,000 files.
  const value = parseBytes(bytes);
  return trafficEvents(value, source) ?? [{ source, ...savedRequestOf({ bytes, name: source, value }) }];
}

/** The files of files and folders, in the order of their names; stdin if nothing is named. */
export async function expandPaths(context: CliContext, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return ['-'];
  return (await Promise.all(paths.map((path) => expand(context, path)))).flat();
}

/** The events in the traffic that the inspector gives as JSON; `undefined` for another file. */
function trafficEvents(value: JsonValue | undefined, name: string): NamedDelivery[] | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.entries) || typeof value.lastId !== 'number')
    return undefined;
  return value.entries
    .filter((entry) => isJsonObject(entry) && entry.kind === 'event')
    .map((entry) => {
      const { success, data } = trafficEvent.safeParse(entry);
      if (success) return eventOf(data, name);
      throw new CliError(`${name} is not the traffic of an inspector: an event has another form.`);
    });
}

const trafficEvent = z.object({
  id: z.int(),
  time: z.number().min(0).max(8.64e15),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
});

function eventOf(event: z.output<typeof trafficEvent>, name: string): NamedDelivery {
  const { id, time, url = '/', body } = event;
  const target = url.replace(/^[a-z]+:\/\/[^/?]*/, '');
  const headers = Object.entries(event.headers);
  const parts = [...headers, ['its path', target], ['its whole body', body]] as const;
  return {
    source: `${name} #${id}`,
    receivedAt: new Date(time).toISOString(),
    target: target.includes(hidden) || !target.startsWith('/') ? undefined : target,
    headers: headers.filter(([, value]) => !value.includes(hidden)),
    body: Buffer.from(body),
    lacks: parts.filter(([, value]) => value.includes(hidden)).map(([part]) => part),
  };
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
