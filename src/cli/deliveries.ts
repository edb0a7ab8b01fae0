import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isJsonObject, type JsonValue } from '../internal/json.ts';
import { type CliContext, CliError } from './context.ts';
import { inputName, readInput } from './input.ts';

/** Marks the files of deliveries, and the version of their form (docs/cli.md). */
const format = 'partner-exchange-delivery/1';

/** A request as it came, or as it will be posted. */
export interface Delivery {
  /** When it came, in ISO 8601; `undefined` for a body without its request. */
  readonly receivedAt?: string | undefined;
  /** Path and query, as they were sent. */
  readonly target?: string | undefined;
  /** In the order and the spelling in which they were sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** The text of a file that keeps a delivery byte for byte. */
export function writeDelivery({ receivedAt, target, headers, body }: Delivery): string {
  const text = textOf(body);
  const content = text === undefined ? { bodyBase64: Buffer.from(body).toString('base64') } : { body: text };
  return `${JSON.stringify({ format, receivedAt, target, headers, ...content }, null, 2)}\n`;
}

/** The delivery in a file: one that was written by {@link writeDelivery}, or a bare body. */
export function readDelivery(bytes: Uint8Array, name: string): Delivery {
  const value = parse(bytes);
  if (!isJsonObject(value) || value.format === undefined) return { headers: [], body: bytes };
  if (value.format !== format) {
    // A body may have a member of that name.
    if (!String(value.format).startsWith('partner-exchange-delivery/')) return { headers: [], body: bytes };
    throw new CliError(`${name} was saved by another version of this command: update it.`);
  }
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

function parse(bytes: Uint8Array): unknown {
  const text = textOf(bytes);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text whose UTF-8 is exactly these bytes; `undefined` if there is none. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isHeaders(value: JsonValue | undefined): value is [string, string][] {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string'),
    )
  );
}

export interface NamedDelivery extends Delivery {
  /** The file, or `stdin`. */
  readonly source: string;
}

/**
 * Reads deliveries: files that `listen --save` wrote, bare bodies, folders of both in the order of their names, or
 * stdin when nothing is named.
 */
export async function readDeliveries(
  context: CliContext,
  paths: readonly string[],
): Promise<NamedDelivery[]> {
  const files =
    paths.length === 0 ? [undefined] : (await Promise.all(paths.map((path) => expand(context, path)))).flat();
  const deliveries: NamedDelivery[] = [];
  for (const file of files) {
    const source = inputName(file);
    deliveries.push({ source, ...readDelivery(await readInput(context, file), source) });
  }
  return deliveries;
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
