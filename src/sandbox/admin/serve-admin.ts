import type * as z from 'zod';
import { type AdminAccess, adminPath, type ServeAdmin } from '../http/admin-access.ts';
import { Refusal } from '../http/refusal.ts';
import { errorReply, jsonReply } from '../http/replies.ts';
import { parseBody, readBody, requireShape } from '../http/request-body.ts';
import { isLoopback, requireOwnPage, requireToken } from './caller-checks.ts';
import { changeEndpoints } from './change-endpoints.ts';
import type { AdminContext, Endpoint, Params } from './endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { notAllowed, pageReply } from './page-reply.ts';
import { readEndpoints, shownEntry, traceQuery } from './read-endpoints.ts';
import { withApiHeaders } from './security-headers.ts';
import { traceStream } from './trace-stream.ts';

const maxBodyBytes = 64 * 1024;
/** Each holds a connection for as long as its reader likes. */
const maxStreams = 64;

export function createServeAdmin(
  { sandbox, state }: Pick<AdminContext, 'sandbox' | 'state'>,
  access: AdminAccess,
): ServeAdmin {
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
    if (`${pathname}/` === adminPath)
      return new Response(null, { status: 308, headers: { location: adminPath } });
    const path = pathname.slice(adminPath.length);
    const isLocal = isLoopback(ip);
    if (!isLocal && access.from === 'loopback') {
      const message = 'Only this machine is answered here: see the option inspector of listen().';
      throw new Refusal(403, 'not_loopback', message);
    }
    requireOwnPage(request, { isPage: path === '' });
    if (path === '') return pageReply(request, 'sandbox');
    const isRead = request.method === 'GET';
    // What can be read holds keys: from elsewhere it needs the token, too.
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
  return requireShape(schema, parseBody(await readBody(request, maxBodyBytes)), 'invalid_body');
}
