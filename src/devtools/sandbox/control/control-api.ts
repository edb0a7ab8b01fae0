import * as z from 'zod';
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
import { type ControlCall, type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { page } from './page.ts';

export interface ControlAccess {
  /** The path of the page, with a slash at the end. The API is below it. */
  readonly path: string;
  /** Required for requests that change something. */
  readonly token: string;
  /** Other machines (`any`) need the token to read, too. */
  readonly from: 'loopback' | 'any';
  /** Whether reading needs the token on this machine, too. @default false */
  readonly isSecret?: boolean;
}

/** The subject of the page: a sandbox, or the deliveries that `listen` received. */
export type PageSource = 'sandbox' | 'listen';

interface ControlOptions extends ControlAccess {
  readonly source: PageSource;
  readonly endpoints: readonly ControlEndpoint[];
}

/** Answers requests for the inspector's page and its API. Never rejects. */
export type ControlHandler = (request: Request, connection: { ip: string }) => Promise<Response>;

export function controlHandler(options: ControlOptions): ControlHandler {
  const { path: root, token, from, isSecret = false } = options;
  const table = controlTable(options);

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
    // Answers hold keys: from another machine, reading needs the token, too.
    if (!isPage && !(isRead && isLocal && !isSecret))
      requireToken(request.headers.get('authorization'), token);
    const endpoint = routeAt(table, { method: isRead ? 'GET' : request.method, path });
    if (endpoint === undefined) {
      throw noRoute(table, path, 'Nothing is at this path: see openapi.json beside the page.');
    }
    const params = decoded(pathParameters(endpoint.path, path));
    const given = Object.fromEntries(searchParams);
    const query = endpoint.query === undefined ? {} : await parseWith(endpoint.query, given, 'invalid_query');
    const body = endpoint.body && (await bodyOf(endpoint.body, request, endpoint));
    const result = await endpoint.handle({ request, origin, params, query, body });
    if (result instanceof Response) return result;
    // Sound: every JSON endpoint answers with an object.
    return jsonReply(200, result as Parameters<typeof jsonReply>[1]);
  }

  return async (request, { ip }) => withApiHeaders(await answer(request, ip).catch(errorReply));
}

const pagePath = '';

/** Adds the page and the OpenAPI document to the endpoints. */
export function controlTable({
  source,
  path,
  endpoints,
  isSecret = false,
}: Omit<ControlOptions, 'token' | 'from'>): readonly ControlEndpoint[] {
  const table: readonly ControlEndpoint[] = [
    endpoint({
      id: 'getPage',
      method: 'GET',
      path: pagePath,
      summary: 'The page',
      answer: z.string(),
      content: 'text/html',
      refusals: [501],
      handle: () => pageReply(source),
    }),
    endpoint({
      id: 'getOpenApi',
      method: 'GET',
      path: 'openapi.json',
      summary: 'This API as an OpenAPI 3.1 document',
      answer: z.looseObject({ openapi: z.literal('3.1.0') }),
      handle: ({ origin }) =>
        openApiDocument({ title: titles[source], url: origin + path.slice(0, -1), table, isSecret }),
    }),
    ...endpoints,
  ];
  return table;
}

const titles = { sandbox: 'Sandbox inspector', listen: 'Received events' };

function pageReply(source: PageSource): Response {
  if (page === undefined) {
    throw new Refusal(501, 'not_built', 'The page is made by the build, and these are the bare sources.');
  }
  // The page's script reads its subject from the document, since the policy names the hash of one script.
  const html =
    source === 'sandbox'
      ? page.html
      : page.html
          .replace(`<title>${titles.sandbox}</title>`, `<title>${titles[source]}</title>`)
          .replace('<body>', `<body data-source="${source}">`);
  return new Response(html, { headers: pageHeaders(page) });
}

function decoded(params: Readonly<Record<string, string>> = {}): ControlCall['params'] {
  try {
    const values = Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]);
    return Object.fromEntries(values);
  } catch {
    throw new Refusal(400, 'bad_path', 'The path is not URL-encoded.');
  }
}

async function bodyOf(
  schema: z.ZodType,
  request: Request,
  { maxBodyBytes }: Pick<ControlEndpoint, 'maxBodyBytes'>,
): Promise<unknown> {
  // A form of another page cannot send this type.
  requireJsonType(request);
  return parseWith(schema, parseBody(await readBody(request, maxBodyBytes)), 'invalid_body');
}
