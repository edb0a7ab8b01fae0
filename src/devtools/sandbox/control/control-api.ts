import type * as z from 'zod';
import { isConfigurationError, isValidationError, whatFailed } from '../../../errors/errors.ts';
import {
  errorReply,
  jsonReply,
  noRoute,
  parseBody,
  parseWith,
  pathParameters,
  Refusal,
  readBody,
  requireJsonType,
  routeAt,
} from '../wire/requests.ts';
import { requireToken } from '../wire/sandbox-secrets.ts';
import { isLoopbackAddress, pageHeaders, requireOwnPage, withApiHeaders } from './caller-checks.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { page } from './page.ts';

export interface ControlAccess {
  /** The path of the page, with a slash at the end. The API is below it. */
  readonly path: string;
  /** Required for requests that change something. */
  readonly token: string;
  /** Other machines (`any`) need the token to read, too. */
  readonly from: 'loopback' | 'any';
  /** Whether the caller gave keys, so that this machine needs the token to read, too. */
  readonly hasGivenKeys: boolean;
}

/** Answers requests for the inspector's page and its API. Never rejects. */
export type ControlHandler = (request: Request, connection: { ip: string }) => Promise<Response>;

export function controlHandler(
  { path: root, token, from, hasGivenKeys }: ControlAccess,
  operations: readonly ControlEndpoint[],
): ControlHandler {
  const table = [pageEndpoint, ...operations];

  async function answer(request: Request, ip: string): Promise<Response> {
    const { pathname, searchParams, origin } = new URL(request.url);
    if (`${pathname}/` === root) return new Response(null, { status: 308, headers: { location: root } });
    const path = pathname.slice(root.length);
    const isLocal = isLoopbackAddress(ip);
    if (!isLocal && from === 'loopback') {
      const message = 'Only this machine is answered here: see the option inspector of listen().';
      throw new Refusal(403, 'not_loopback', message);
    }
    const isPage = path === pagePath;
    requireOwnPage(request, { isPage });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    // Answers hold drawn keys, which open this sandbox alone, and what given keys have signed.
    const isOpen = isRead && isLocal && !hasGivenKeys;
    if (!isPage && !isOpen) requireToken(request.headers.get('authorization'), token);
    const route = routeAt(table, { method: isRead ? 'GET' : request.method, path });
    if (route === undefined)
      throw noRoute(table, path, 'Nothing is at this path: docs/inspector.md lists the others.');
    const params = decoded(pathParameters(route.path, path));
    const query =
      route.query && (await parseWith(route.query, Object.fromEntries(searchParams), 'invalid_query'));
    const body = route.body && (await bodyOf(route.body, request));
    const result = await route.handle({ origin, params, query: query ?? {}, body });
    if (result instanceof Response) return result;
    // Sound: every JSON endpoint answers with an object.
    return jsonReply(200, result as Parameters<typeof jsonReply>[1]);
  }

  return async (request, { ip }) =>
    withApiHeaders(await answer(request, ip).catch((error: unknown) => errorReply(refusalOf(error))));
}

/** Refuses an unknown order, step, delivery or fault as the caller's mistake. Other errors stay as they are. */
function refusalOf(error: unknown): unknown {
  if (isValidationError(error)) return new Refusal(409, 'not_possible', whatFailed(error));
  return isConfigurationError(error) ? new Refusal(400, 'invalid_body', error.message) : error;
}

const pagePath = '';

export const pageEndpoint = endpoint({
  method: 'GET',
  path: pagePath,
  summary: 'The page',
  handle: () => {
    if (page !== undefined) return new Response(page.html, { headers: pageHeaders(page) });
    throw new Refusal(501, 'not_built', 'The page is made by the build, and these are the bare sources.');
  },
});

function decoded(params: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  try {
    const values = Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]);
    return Object.fromEntries(values);
  } catch {
    throw new Refusal(400, 'bad_path', 'The path is not URL-encoded.');
  }
}

const maxBodyBytes = 64 * 1024;

async function bodyOf(schema: z.ZodType, request: Request): Promise<unknown> {
  // A form of another page cannot send this type.
  requireJsonType(request);
  return parseWith(schema, parseBody(await readBody(request, maxBodyBytes)), 'invalid_body');
}
