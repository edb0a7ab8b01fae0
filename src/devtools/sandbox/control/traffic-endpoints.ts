import * as z from 'zod';
import { Refusal } from '../wire/requests.ts';
import type { SandboxState } from '../world/state.ts';
import type { SandboxTrace, TraceEntry } from '../world/trace.ts';
import type { Exchange, Extent } from './answers.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { examineSignature } from './examine-signature.ts';
import { explainExchange } from './exchange-verdict.ts';
import { hideGivenKeys } from './given-keys.ts';
import { findEntries } from './search-traffic.ts';

const traceQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  bodies: z.enum(['true', 'false']).default('true'),
});

/** The query of a search. */
export const searchQuery = z.string().max(200).default('');

/** Each stream holds a connection until its reader closes it. */
const maxStreams = 64;

export function trafficEndpoints(state: SandboxState): readonly ControlEndpoint[] {
  const trace = state.trace.view;
  const hide = (entry: TraceEntry) => hideGivenKeys(state, entry);
  const listed = (entry: TraceEntry, bodies: 'true' | 'false') =>
    bodies === 'true' ? hide(entry) : { ...hide(entry), headers: undefined, body: undefined };
  let streams = 0;
  return [
    endpoint({
      method: 'GET',
      path: 'trace',
      summary: 'The traffic, the oldest entry first: a file for `replay`',
      query: traceQuery.extend({
        limit: z.coerce.number().int().min(1).optional(),
        search: searchQuery,
      }),
      handle: ({ query: { after, bodies, limit, search } }) => {
        // A search in the keys that the caller gave would tell what they are.
        const all = search === '' ? trace.entries : findEntries(trace.entries.map(hide), search);
        const entries = all.filter(({ id }) => id > after).slice(0, limit);
        return { entries: entries.map((entry) => listed(entry, bodies)), ...extentOf(trace) };
      },
    }),
    endpoint({
      method: 'GET',
      path: 'trace/stream',
      summary: 'The traffic as server-sent events; continue with Last-Event-ID or `after`',
      query: traceQuery,
      handle: ({ request, query }) => {
        if (streams >= maxStreams)
          throw new Refusal(503, 'too_many_streams', `At most ${maxStreams} streams are open at once.`);
        streams += 1;
        const id = request.headers.get('last-event-id') ?? '';
        const after = /^\d{1,15}$/.test(id) ? Number(id) : query.after;
        const onEnd = () => {
          streams -= 1;
        };
        const body = traceStream(trace, { after, show: (entry) => listed(entry, query.bodies), onEnd });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    }),
    endpoint({
      method: 'GET',
      path: 'trace/{id}',
      summary: 'A request or event with its replies: how it ended and why, and the key that signed it',
      handle: ({ params: { id = '' } }): Exchange => {
        const entry = /^\d{1,15}$/.test(id)
          ? trace.entries.find((each) => each.id === Number(id))
          : undefined;
        if (entry === undefined)
          throw new Refusal(404, 'unknown_entry', 'The trace has no entry with this id.');
        const entries = trace.entries.filter(({ exchange }) => exchange === entry.exchange);
        return {
          entries,
          verdict: explainExchange(entries),
          signature: examineSignature(state, entries[0] ?? entry),
        };
      },
    }),
  ];
}

export function extentOf({ forgotten, entries }: SandboxTrace): Extent {
  return { lastId: forgotten + entries.length, forgotten };
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
  // An id from before a restart: start at the beginning.
  let last = after > extentOf(trace).lastId ? 0 : after;
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
