import * as z from 'zod';
import type { EventReading } from '../../../events/event-readings.ts';
import type { MismatchExplanation } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { Refusal } from '../wire/requests.ts';
import type { SandboxTrace, TraceEntry } from '../world/trace.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import type { ExaminedSignature } from './examine-signature.ts';
import * as schemas from './schemas.ts';
import { findExchanges } from './search-traffic.ts';

/** A trace for the inspector: of a sandbox, or of the deliveries that `listen` received. */
export interface TraceSource<Edit> {
  readonly trace: SandboxTrace;
  /** Hides keys in an entry before anything is read from it. @default none */
  readonly hide?: (entry: TraceEntry) => TraceEntry;
  /** Adds facts to an entry. @default none */
  readonly show?: (entry: TraceEntry) => object;
  /** Checks a signature; `undefined` for what is not signed. */
  readonly examine: (entry: TraceEntry) => ExaminedSignature | undefined;
  /** How a received event was read that is not in the documented form. @default none */
  readonly readingsOf?: (entry: TraceEntry) => readonly EventReading[] | undefined;
  /** What to do about an event that the receiver refused. @default none */
  readonly advise?: (entries: readonly TraceEntry[]) => string[] | undefined;
  /** Why a signature does not hold. @throws {Refusal} for what cannot be explained */
  readonly explain: (entry: TraceEntry) => MismatchExplanation;
  /** Sends an edited copy of an exchange. @default nothing can be sent */
  readonly send?:
    | {
        readonly summary: string;
        readonly body: z.ZodType<Edit>;
        readonly refusals: readonly number[];
        readonly post: (first: TraceEntry, edit: Edit) => Promise<schemas.SentCopy>;
      }
    | undefined;
}

const traceQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).describe('only entries behind this id'),
  bodies: z.enum(['true', 'false']).default('true').describe('false leaves out headers and bodies'),
});

/** Each stream holds a connection until its reader closes it. */
const maxStreams = 64;
/** An explanation tries thousands of combinations, and blocks all other requests. */
const maxExplained = 16 * 1024;

export function trafficEndpoints<Edit>(source: TraceSource<Edit>): readonly ControlEndpoint[] {
  const { trace, hide = (entry) => entry, examine, explain, send } = source;
  const { advise = () => undefined, readingsOf = () => undefined } = source;
  const show = (entry: TraceEntry) => source.show?.(hide(entry)) ?? hide(entry);
  let streams = 0;
  const shown = (entry: TraceEntry, bodies: 'true' | 'false') =>
    bodies === 'true' ? show(entry) : { ...show(entry), headers: undefined, body: undefined };
  return [
    endpoint({
      id: 'listTrace',
      method: 'GET',
      path: 'trace',
      summary: 'The traffic, the oldest entry first: a file for `replay`',
      query: traceQuery.extend({
        limit: z.coerce.number().int().min(1).optional().describe('how many at most; all by default'),
      }),
      answer: schemas.extentSchema.extend({ entries: z.array(schemas.traceEntrySchema) }),
      handle: ({ query: { after, bodies, limit } }) => {
        const entries = trace.entries.filter(({ id }) => id > after).slice(0, limit);
        return { entries: entries.map((entry) => shown(entry, bodies)), ...extentOf(trace) };
      },
    }),
    endpoint({
      id: 'streamTrace',
      method: 'GET',
      path: 'trace/stream',
      summary: 'The traffic as server-sent events; continue with Last-Event-ID or `after`',
      query: traceQuery,
      answer: z.string(),
      content: 'text/event-stream',
      refusals: [503],
      handle: ({ request, query }) => {
        if (streams >= maxStreams)
          throw new Refusal(503, 'too_many_streams', `At most ${maxStreams} streams are open at once.`);
        streams += 1;
        const id = request.headers.get('last-event-id') ?? '';
        const after = /^\d{1,15}$/.test(id) ? Number(id) : query.after;
        const onEnd = () => {
          streams -= 1;
        };
        const body = traceStream(trace, { after, show: (entry) => shown(entry, query.bodies), onEnd });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    }),
    endpoint({
      id: 'searchTrace',
      method: 'GET',
      path: 'trace/search',
      summary: 'The ids of the exchanges that a search finds, bodies included',
      query: z.strictObject({
        search: schemas.searchQuery.describe('words, a status of three digits, `#12`, or text in quotes'),
        after: z.coerce
          .number()
          .int()
          .min(0)
          .default(0)
          .describe('only exchanges that changed behind this id'),
      }),
      answer: schemas.extentSchema.extend({ exchanges: z.array(z.int()) }),
      handle: ({ query }) => ({
        exchanges: findExchanges(trace.entries.map(hide), query),
        ...extentOf(trace),
      }),
    }),
    endpoint({
      id: 'getExchange',
      method: 'GET',
      path: 'trace/{id}',
      summary: 'A request or event, its replies, and the key that signed it',
      answer: schemas.exchangeSchema,
      refusals: [404],
      handle: ({ params }) => {
        const { first, entries } = exchangeOf(trace, params.id);
        return {
          entries: entries.map(show),
          signature: examine(first),
          readings: readingsOf(first),
          advice: advise(entries),
        };
      },
    }),
    endpoint({
      id: 'explainSignature',
      method: 'GET',
      path: 'trace/{id}/explanation',
      summary: 'Why its signature does not hold; can take seconds',
      answer: schemas.explanationSchema,
      refusals: [404, 409],
      handle: ({ params }) => {
        const { first } = exchangeOf(trace, params.id);
        if ((first.body?.length ?? 0) > maxExplained) {
          const message = `Only bodies of at most ${maxExplained} characters are explained.`;
          throw new Refusal(409, 'body_too_large', message);
        }
        return explain(first);
      },
    }),
    ...(send === undefined
      ? []
      : [
          endpoint({
            id: 'sendEdited',
            method: 'POST',
            path: 'trace/{id}/send',
            summary: send.summary,
            body: send.body,
            maxBodyBytes: schemas.maxCopyBytes,
            answer: schemas.sentCopySchema,
            refusals: send.refusals,
            handle: ({ params, body }) => send.post(exchangeOf(trace, params.id).first, body),
          }),
        ]),
  ];
}

export function extentOf({ forgotten, entries }: SandboxTrace) {
  return { lastId: forgotten + entries.length, forgotten };
}

/** All entries of an exchange, in order. @throws {Refusal} 404 */
function exchangeOf({ entries }: SandboxTrace, id = ''): { first: TraceEntry; entries: TraceEntry[] } {
  const found = /^\d{1,15}$/.test(id) ? entries.find((entry) => entry.id === Number(id)) : undefined;
  if (found === undefined) throw new Refusal(404, 'unknown_entry', 'The trace has no entry with this id.');
  const all = entries.filter(({ exchange }) => exchange === found.exchange);
  return { first: all[0] ?? found, entries: all };
}

interface StreamOptions {
  /** Starts after this entry. */
  readonly after: number;
  readonly show: (entry: TraceEntry) => object;
  readonly onEnd: () => void;
}

/**
 * The trace as server-sent events, each entry with its id. The stream is pulled: a slow reader blocks nothing and
 * fills no memory. A `forgotten` event reports the entries that it missed.
 */
function traceStream(trace: SandboxTrace, { after, show, onEnd }: StreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const { lastId } = extentOf(trace);
  // An id from before a restart: start at the beginning.
  let last = after > lastId ? 0 : after;
  const ended = new AbortController();
  const entries = trace.follow({ after: last, signal: ended.signal });
  return new ReadableStream(
    {
      start(controller) {
        controller.enqueue(encoder.encode('retry: 1000\n\n'));
      },
      async pull(controller) {
        const { done, value: entry } = await entries.next();
        if (done || entry === undefined) return controller.close();
        const missed =
          entry.id > last + 1
            ? `event: forgotten\ndata: ${JSON.stringify({ after: last, before: entry.id })}\n\n`
            : '';
        last = entry.id;
        const data = JSON.stringify(show(entry));
        controller.enqueue(encoder.encode(`${missed}id: ${entry.id}\ndata: ${data}\n\n`));
      },
      cancel() {
        ended.abort();
        onEnd();
      },
    },
    { highWaterMark: 1 },
  );
}
