import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { deliveryFileFormat } from '../diagnostics/detection/samples.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../internal/json.ts';
import { hidden } from '../internal/redact-credentials.ts';
import { type CliContext, CliError } from './context.ts';
import { inputName, readInput } from './input.ts';

/** Marks the files of deliveries, and the version of their form (docs/cli.md). */
const format = `${deliveryFileFormat}1`;

/** A request as it was received, or as it will be posted. */
export interface Delivery {
  /** In ISO 8601; `undefined` for a body without its request. */
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
    if (!String(value.format).startsWith(deliveryFileFormat)) return { headers: [], body: bytes };
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
  /** The file, or `stdin`; of a session with the id of the event. */
  readonly source: string;
  /** Headers whose values a session file does not hold. */
  readonly redacted?: readonly string[];
}

/**
 * Reads deliveries: files of `listen --save`, sessions that the inspector exported, bare bodies, and folders of these
 * in the order of their names; stdin if nothing is named.
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
    const bytes = await readInput(context, file);
    const events = await sessionEvents(bytes, source);
    deliveries.push(...(events ?? [{ source, ...readDelivery(bytes, source) }]));
  }
  return deliveries;
}

/** The events in the file of a session that the inspector exported; `undefined` for another file. */
async function sessionEvents(bytes: Uint8Array, name: string): Promise<NamedDelivery[] | undefined> {
  const value = parse(bytes);
  if (!isJsonObject(value) || !String(value.format).startsWith('partner-exchange-session/')) return undefined;
  // Loaded for such a file alone.
  const { readSession } = await import('../sandbox/control/session.ts');
  const { Refusal } = await import('../sandbox/requests.ts');
  const { entries } = readSessionOf(value);
  return entries
    .filter(({ kind }) => kind === 'event')
    .map(({ id, time, headers = {}, body = '' }) => {
      const all = Object.entries(headers);
      return {
        source: `${name} #${id}`,
        receivedAt: new Date(time).toISOString(),
        headers: all.filter(([, value]) => value !== hidden),
        redacted: all.filter(([, value]) => value === hidden).map(([header]) => header),
        body: Buffer.from(body),
      };
    });

  function readSessionOf(session: JsonObject) {
    try {
      return readSession(session);
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      throw new CliError(`${name}: ${cause.message}`, { cause });
    }
  }
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
