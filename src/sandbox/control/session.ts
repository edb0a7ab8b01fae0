import * as z from 'zod';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { isJsonObject } from '../../internal/json.ts';
import { printableText } from '../../internal/printable-text.ts';
import { hidden, redactCredentials } from '../../internal/redact-credentials.ts';
import { redactReplyHeaders, redactRequestHeaders, redactText, redactUrl } from '../../internal/redaction.ts';
import type { SandboxOperation } from '../faults/faults.ts';
import { Refusal } from '../requests.ts';
import type { SandboxTrace, TraceEntry, TraceFacts } from '../trace.ts';
import { purposeOf } from './examine-signature.ts';

/** Marks the file of a session, and the version of its form (docs/inspector.md). */
export const sessionFormat = 'partner-exchange-session/1';

/** Of a file in UTF-8. An export leaves out its oldest exchanges until it fits. */
export const maxSessionBytes = 16 * 1024 * 1024;

const maxEntries = 50_000;
const maxLine = 4000;

const id = z.int().min(1);
const line = z
  .string()
  .max(maxLine)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

/** A name of `Object.prototype` would be found where the header is absent. */
const headerName = z
  .string()
  .max(maxLine)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')
  .refine((name) => !(name in Object.prototype), 'must not be a name that every object has');

const headerValue = z
  .string()
  .max(maxLine)
  .regex(/^[\x20-\x7e\xa0-\xff]*$/, 'must be the value of a header');

const sessionEntry = z
  .strictObject({
    id,
    kind: z.enum(['request', 'reply', 'event', 'event_reply', 'fault']),
    time: z.number().min(0).max(8.64e15).describe('milliseconds since the epoch'),
    exchange: id.describe('id of the request or event that it belongs to, which comes first'),
    operation: line.optional(),
    event: line.optional().describe('event_name'),
    order: line.optional().describe('partner_order_id'),
    method: line.optional(),
    url: line.optional().describe('without the values of its query'),
    status: z.int().min(100).max(999).optional(),
    durationMs: z.number().min(0).optional(),
    headers: z.record(headerName, headerValue).optional().describe(`a secret value is "${hidden}"`),
    body: z.string().optional().describe('the exact text, apart from keys'),
    faults: z.array(line).max(100).default([]),
    note: line.optional(),
  })
  .meta({ id: 'SessionEntry' });

export const session = z
  .strictObject({
    format: z.literal(sessionFormat),
    source: z.enum(['sandbox', 'listen']),
    exportedAt: z.iso.datetime(),
    entries: z.array(sessionEntry).max(maxEntries).describe('by id, the oldest first'),
  })
  .meta({ id: 'Session' });

export type Session = z.output<typeof session>;

/** Knows the secrets that no file may hold. */
export interface SessionSource {
  readonly source: Session['source'];
  readonly trace: SandboxTrace;
  readonly secrets: () => readonly string[];
}

/** The keys that a file must not hold. */
export function keysOf(credentials: PartnerCredentials): readonly string[] {
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey, merchantSecretKeys = {} } = credentials;
  const keys = [partnerPublicKey, partnerSecretKey, merchantSecretKey, ...Object.values(merchantSecretKeys)];
  return keys.filter((key) => key !== undefined);
}

/** The newest whole exchanges that fit into a file, without secrets. */
export function exportSession({ source, trace, secrets }: SessionSource): Session {
  const redact = secretsRedactor(secrets());
  const { entries: all } = trace;
  const newest: Session['entries'] = [];
  // Room for the rest of the file.
  let size = 1000;
  for (const entry of all.toReversed()) {
    const shown = withoutSecrets(entry, redact);
    size += Buffer.byteLength(JSON.stringify(shown)) + 1;
    if (size > maxSessionBytes || newest.length === maxEntries) break;
    newest.push(shown);
  }
  const entries = newest.reverse();
  const ids = new Set(entries.map((entry) => entry.id));
  const whole = entries.filter(({ exchange }) => ids.has(exchange));
  return { format: sessionFormat, source, exportedAt: new Date().toISOString(), entries: whole };
}

type Redact = (text: string) => string;

function withoutSecrets(entry: TraceEntry, redact: Redact): Session['entries'][number] {
  const { id, kind, time, exchange, operation, event, order, method, url, status, durationMs, faults, note } =
    entry;
  const shown = (text: string | undefined) => text && printableText(redact(text)).slice(0, maxLine);
  return {
    ...{ id, kind, time, exchange, method, status, durationMs },
    operation: shown(operation),
    event: shown(event),
    order: shown(order),
    url: url && shown(sharedUrl(url, entry)),
    headers: entry.headers && sharedHeaders(entry.headers, entry, redact),
    body: entry.body && (isSigned(entry) ? redact(entry.body) : redactCredentials(redact(entry.body))),
    faults: faults.map((fault) => printableText(fault).slice(0, maxLine)),
    note: shown(note),
  };
}

/** A signature has to stay. It is no secret, but looks like a key. */
function isSigned(entry: TraceEntry): boolean {
  return entry.kind !== 'reply' && purposeOf(entry) !== undefined;
}

/** Query values, and the token of a one-time link, are left out. */
function sharedUrl(url: string, { operation }: TraceEntry): string {
  if (!URL.canParse(url)) return redactCredentials(url);
  const shared = redactUrl(url);
  return operation === 'openLink' ? shared.replace(/[^/]+$/, hidden) : shared;
}

function sharedHeaders(
  given: Readonly<Record<string, string>>,
  { kind }: TraceEntry,
  redact: Redact,
): Record<string, string> {
  const pairs = Object.entries(given).filter(([name]) => headerName.safeParse(name).success);
  const isReply = kind === 'reply' || kind === 'event_reply';
  const shown = (isReply ? redactReplyHeaders : redactRequestHeaders)(new Headers(pairs), []);
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, printableText(redact(value)).slice(0, maxLine)]),
  );
}

/** Words are looked up, since a sandbox can have thousands of keys. */
function secretsRedactor(secrets: readonly string[]): Redact {
  const isWord = (secret: string) => /^[\w-]{8,}$/.test(secret);
  const words = new Set(secrets.filter(isWord));
  const others = secrets.filter((secret) => !isWord(secret));
  return (text) =>
    redactText(
      text.replace(/[\w-]{8,}/g, (word) => (words.has(word) ? hidden : word)),
      others,
    );
}

/** A session from a parsed file. @throws {Refusal} which says why it is none */
export function readSession(value: Readonly<Record<string, unknown>>): Session {
  const { format } = value;
  if (format !== sessionFormat) {
    const isOther = typeof format === 'string' && format.startsWith('partner-exchange-session/');
    throw new Refusal(
      400,
      isOther ? 'unknown_version' : 'not_a_session',
      isOther
        ? 'This session was exported by another version of the inspector: update this one.'
        : 'This is not the file of an exported session.',
    );
  }
  refusePrototypes(value);
  const { entries, ...head } = parsePart(session.extend({ entries: anyEntries }), value, []);
  // One after another, since a schema of the whole list would list the faults of every entry.
  const data = entries.map((entry, index) => parsePart(sessionEntry, entry, ['entries', index]));
  const firsts = new Set<number>();
  let last = 0;
  for (const { id, exchange } of data) {
    if (id <= last || (exchange !== id && !firsts.has(exchange))) {
      throw new Refusal(400, 'invalid_session', `The session does not fit: entry ${id} is out of order.`);
    }
    last = id;
    if (exchange === id) firsts.add(id);
  }
  return { ...head, entries: data };
}

const anyEntries = z.array(z.unknown()).max(maxEntries);

function parsePart<Output>(schema: z.ZodType<Output>, value: unknown, at: readonly PropertyKey[]): Output {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const path = printableText([...at, ...(issue?.path ?? [])].map(String).join('.')).slice(0, 200);
  // Without the names from the file, which the text of this issue quotes.
  const message = issue?.code === 'unrecognized_keys' ? 'has an unknown member' : issue?.message;
  throw new Refusal(400, 'invalid_session', `The session does not fit: ${path}: ${message}.`);
}

/** The schema would skip such a member without a word. */
function refusePrototypes(value: Readonly<Record<string, unknown>>): void {
  const entries: readonly unknown[] = Array.isArray(value.entries) ? value.entries : [];
  for (const each of [value, ...entries]) {
    const parts = isJsonObject(each) ? [each, each.headers] : [];
    if (!parts.some((part) => isJsonObject(part) && Object.hasOwn(part, '__proto__'))) continue;
    throw new Refusal(400, 'invalid_session', 'The session does not fit: a member is named __proto__.');
  }
}

/** Adds the entries of a session behind those of the trace. Returns how many. */
export function importSession({ entries }: Session, add: (facts: TraceFacts) => number): number {
  const ids = new Map<number, number>();
  for (const { id, exchange, operation: name, ...facts } of entries) {
    // Sound: operations are only shown, and looked up in tables that say whether they know a name.
    const operation = name as SandboxOperation | undefined;
    ids.set(id, add({ ...facts, operation, exchange: ids.get(exchange), imported: true }));
  }
  return entries.length;
}
