import type * as z from 'zod';
import { errorReply, jsonReply, parseBody, parseWith, Refusal, readBody } from '../requests.ts';
import { type ControlAccess, controlPath, type ServeControl } from '../server/http-server.ts';
import type { SandboxTrace, TraceEntry } from '../trace.ts';
import { isLoopback, pageHeaders, requireOwnPage, requireToken, withApiHeaders } from './caller-checks.ts';
import { changeEndpoints } from './change-endpoints.ts';
import type { ControlContext, Endpoint, Params } from './endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { type Page, page } from './page.ts';
import { extentOf, readEndpoints, shownEntry, traceQuery } from './read-endpoints.ts';

const maxBodyBytes = 64 * 1024;
/** Each holds a connection until its reader closes it. */
const maxStreams = 64;

export function createServeControl(
  { sandbox, state }: Pick<ControlContext, 'sandbox' | 'state'>,
  access: ControlAccess,
): ServeControl {
  let streams = 0;

  function stream(request: Request, query: z.output<typeof traceQuery>): Response {
    if (streams >= maxStreams) {
      throw new Refusal(503, 'too_many_streams', `At most ${maxStreams} streams are open at once.`);
    }
    streams += 1;
    const id = request.headers.get('last-event-id') ?? '';
    const after = /^\d{1,15}$/.test(id) ? Number(id) : query.after;
    const body = traceStream(state.trace.view, {
      after,
      show: (entry) => shownEntry(entry, query.bodies),
      onEnd() {
        streams -= 1;
      },
    });
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    });
  }

  async function answer(request: Request, ip: string): Promise<Response> {
    const { pathname, searchParams, origin } = new URL(request.url);
    if (`${pathname}/` === controlPath)
      return new Response(null, { status: 308, headers: { location: controlPath } });
    const path = pathname.slice(controlPath.length);
    const isLocal = isLoopback(ip);
    if (!isLocal && access.from === 'loopback') {
      const message = 'Only this machine is answered here: see the option inspector of listen().';
      throw new Refusal(403, 'not_loopback', message);
    }
    requireOwnPage(request, { isPage: path === '' });
    if (path === '') return pageReply(request, 'sandbox');
    const isRead = request.method === 'GET';
    // Answers hold keys: from elsewhere, reading needs the token, too.
    if (!isRead || !isLocal) requireToken(request, access.token);
    if (isRead && path === 'openapi.json') return jsonReply(200, openApiDocument(origin));
    if (isRead && path === 'trace/stream') return stream(request, queryOf(traceQuery, searchParams));
    await state.ready;
    const { endpoint, params } = find(path, request.method);
    const query = endpoint.query === undefined ? {} : queryOf(endpoint.query, searchParams);
    const body = endpoint.body === undefined ? undefined : await bodyOf(endpoint.body, request);
    const result = await endpoint.handle({ sandbox, state, origin, params, query, body });
    // Sound: what an endpoint answers with is an object; the tests hold it against its schema.
    return jsonReply(200, result as Parameters<typeof jsonReply>[1]);
  }

  return async (request, { ip }) => {
    return withApiHeaders(await answer(request, ip).catch(errorReply));
  };
}

function find(path: string, method: string): { endpoint: Endpoint; params: Params } {
  const here = [...readEndpoints, ...changeEndpoints].flatMap((endpoint) => {
    const params = match(endpoint.path, path);
    return params === undefined ? [] : [{ endpoint, params }];
  });
  const found = here.find(({ endpoint }) => endpoint.method === method);
  if (found !== undefined) return found;
  if (here.length > 0) throw notAllowed(here.map(({ endpoint }) => endpoint.method));
  throw new Refusal(404, 'not_found', 'Nothing is at this path: see /_sandbox/openapi.json.');
}

/** The parameters of a path, or `undefined` if it is another one. */
function match(pattern: string, path: string): Params | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined && segment !== text) return undefined;
    if (name !== undefined) params[name] = decoded(text);
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, 'bad_path', 'The path is not a URL-encoded one.');
  }
}

function queryOf<Output>(schema: z.ZodType<Output>, params: URLSearchParams): Output {
  const { success, data, error } = schema.safeParse(Object.fromEntries(params));
  if (success) return data;
  const issues = error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new Refusal(400, 'invalid_query', `The query does not fit: ${issues.join('; ')}.`);
}

async function bodyOf(schema: z.ZodType, request: Request): Promise<unknown> {
  // A form of another page cannot have this type.
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The Content-Type must be application/json.');
  }
  return parseWith(schema, parseBody(await readBody(request, maxBodyBytes)), 'invalid_body');
}

/** The page shows a sandbox, or the deliveries that `listen` received. */
export type PageSource = 'sandbox' | 'listen';

/** The inspector's page. */
export function pageReply(request: Request, source: PageSource): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed(['GET']);
  if (page === undefined) {
    throw new Refusal(501, 'not_built', 'The page is made by the build, and these are the bare sources.');
  }
  return new Response(htmlFor(page, source), { headers: pageHeaders(page) });
}

/** The script, whose hash the policy names, reads from the document what it shows. */
function htmlFor({ html }: Page, source: PageSource): string {
  if (source === 'sandbox') return html;
  return html
    .replace('<title>Sandbox inspector</title>', '<title>Received events</title>')
    .replace('<body>', `<body data-source="${source}">`);
}

export function notAllowed(methods: readonly string[]): Refusal {
  const allow = methods.join(', ');
  return new Refusal(405, 'method_not_allowed', `Only ${allow} is answered here.`, { allow });
}

interface StreamOptions {
  /** Begins behind this entry. */
  readonly after: number;
  /** What is told of an entry. */
  readonly show: (entry: TraceEntry) => object;
  readonly onEnd: () => void;
}

/**
 * The trace as server-sent events, each entry with its id. It is pulled: a slow reader blocks nothing and fills no
 * memory. Entries that were forgotten before it read them are reported in a `forgotten` event.
 */
export function traceStream(
  trace: SandboxTrace,
  { after, show, onEnd }: StreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const { lastId } = extentOf(trace);
  // An id from before a restart of the sandbox: begin at the beginning.
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
