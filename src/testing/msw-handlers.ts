import { type Deployment, operationUrl, requireDeployment } from '../deployment/define-deployment.ts';
import { type Operation, operationRules, operations } from '../deployment/operations.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { invalidOption } from '../options/check-values.ts';
import { linkPath } from '../sandbox/partners/partner-registry.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** The part of msw's `http` that is used: that of msw 2 and of msw 3 fit. */
export interface MswHttp<Handler> {
  get(path: RegExp, resolver: MswResolver): Handler;
  post(path: RegExp, resolver: MswResolver): Handler;
}

/** What answers an intercepted request. */
export type MswResolver = (info: { request: Request }) => Promise<Response>;

/** Options of {@link mswHandlers}. */
export interface MswHandlersOptions {
  /**
   * The deployment that the code under test uses: its requests are intercepted at its base URLs and paths. An operation
   * whose base URL or path it does not have is left out.
   *
   * Paths and base URLs may differ from the sandbox's. What is in queries and bodies may not: give `createSandbox` the
   * same `wireNames`, `signature`, `orderSchema` and `numberCheckParameters`, and a path for the number check.
   *
   * @default the sandbox's own
   */
  deployment?: Deployment<unknown> | undefined;
}

const optionNames: OptionNames<MswHandlersOptions> = { deployment: true };

/**
 * Request handlers for msw that answer every operation from a sandbox, and the one-time links in its e-mails: for code
 * under test that makes its own clients, or that has no `fetch` to pass in. Where it has, `sandbox.fetch` is simpler.
 *
 * Paths count exactly, with the slash at the end; a request to any other address is unhandled, and so a matter of msw's
 * `onUnhandledFrame` (`onUnhandledRequest` of msw 2).
 *
 * @param http that of your own msw, 2 or 3
 * @throws {ConfigurationError} `invalid_option` or `invalid_deployment`
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { setupServer } from 'msw/node';
 *
 * const sandbox = createSandbox();
 * const server = setupServer(...mswHandlers(http, sandbox, { deployment }));
 * ```
 */
export function mswHandlers<Handler>(
  http: MswHttp<Handler>,
  sandbox: Pick<Sandbox<unknown>, 'fetch' | 'deployment'>,
  options: MswHandlersOptions = {},
): Handler[] {
  checkNames('mswHandlers', options, optionNames);
  if (typeof http?.get !== 'function' || typeof http.post !== 'function') {
    throw invalidOption('mswHandlers needs the `http` of msw 2 or 3 as its first argument.');
  }
  if (typeof sandbox?.fetch !== 'function') {
    throw invalidOption('mswHandlers needs what createSandbox returns as its second argument.');
  }
  const deployment = requireDeployment(options.deployment ?? sandbox.deployment);
  // Sound: the keys of an object of ours.
  const available = (Object.keys(operations) as Operation[]).filter(
    (operation) =>
      deployment.paths[operation] !== undefined &&
      deployment[operationRules(operation).baseUrl] !== undefined,
  );
  const handlers = available.map((operation) => {
    const { method } = operationRules(operation);
    if (sandbox.deployment.paths[operation] === undefined) {
      throw invalidOption(`The sandbox has no path for ${operation}: give createSandbox the same paths.`);
    }
    const path = new URL(operationUrl(sandbox.deployment, operation)).pathname;
    const resolver: MswResolver = ({ request }) => answer(sandbox, request, path);
    const address = exactly(operationUrl(deployment, operation));
    return method === 'GET' ? http.get(address, resolver) : http.post(address, resolver);
  });
  const { onboardingBaseUrl } = deployment;
  if (onboardingBaseUrl === undefined) return handlers;
  // The sandbox puts its links at the origin that the request for them went to.
  const links = new RegExp(`^${escaped(new URL(onboardingBaseUrl).origin + linkPath)}[^/?#]+$`);
  return [...handlers, http.get(links, ({ request }) => answer(sandbox, request))];
}

async function answer(
  sandbox: Pick<Sandbox<unknown>, 'fetch'>,
  request: Request,
  path?: string,
): Promise<Response> {
  const url = new URL(request.url);
  if (path !== undefined) url.pathname = path;
  const body = request.body === null ? null : await request.arrayBuffer();
  const { method, headers, signal } = request;
  try {
    return asSent(await sandbox.fetch(url, { method, headers, body, signal }));
  } catch {
    // The sandbox refuses by an answer: what it throws is a broken connection, and msw's sign for one is this.
    return Response.error();
  }
}

/** A response as it goes over the wire: fetch has decompressed it, and msw is about to. */
function asSent(response: Response): Response {
  if (response.headers.get('content-encoding') !== 'gzip' || response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  const body = response.body.pipeThrough(new CompressionStream('gzip'));
  return new Response(body, { status, statusText, headers });
}

/** A pattern, since msw takes a text for one: `:id` and `*` in it match anything, and so does its case. */
function exactly(url: string): RegExp {
  return new RegExp(`^${escaped(url)}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
