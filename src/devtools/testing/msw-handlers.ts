import { type Deployment, operationUrl, requireDeployment } from '../../deployment/define-deployment.ts';
import { operationNames, operationRules } from '../../deployment/operations.ts';
import { defineOptions, invalidOption, type OptionTable, optional } from '../../internal/options.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { linkPath } from '../sandbox/world/partner-registry.ts';

/** The parts of the `http` of msw that we use. */
export interface MswHttp<Handler> {
  get(path: RegExp, resolver: MswResolver): Handler;
  post(path: RegExp, resolver: MswResolver): Handler;
}

/** Answers a request, as a resolver of msw does. */
export type MswResolver = (info: { request: Request }) => Promise<Response>;

/** Options of {@link mswHandlers}. */
export interface MswHandlersOptions {
  /**
   * The deployment of the code under test: requests to its base URLs and paths are intercepted. Operations without a
   * base URL or path are left out.
   *
   * Paths and base URLs may differ from the sandbox's. Queries and bodies may not: give it the same `deployment`.
   *
   * @default the sandbox's own
   */
  deployment?: Deployment<unknown> | undefined;
}

const readOptions = defineOptions('mswHandlers', {
  // Sound: `requireDeployment` checks it.
  deployment: optional((given) => requireDeployment(given as Deployment<unknown>)),
} satisfies OptionTable<MswHandlersOptions>);

/**
 * Makes request handlers for msw that answer every operation from a sandbox, and the one-time links in its mails,
 * for code that makes its own clients. If you can pass a `fetch`, `sandbox.fetch` is simpler.
 *
 * Paths must match exactly, including a slash at the end. Other requests are unhandled: see msw's `onUnhandledFrame`.
 *
 * @param http of your own msw 3
 * @throws {ConfigurationError} `invalid_option`, `invalid_deployment`, or `not_configured` for a path that the sandbox
 *   does not have
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
  const settings = readOptions(options);
  if (typeof http?.get !== 'function' || typeof sandbox?.fetch !== 'function')
    throw invalidOption('mswHandlers needs the `http` of msw 3, and the result of createSandbox.');
  const deployment = settings.deployment ?? requireDeployment(sandbox.deployment);
  const available = operationNames.filter(
    (operation) =>
      deployment.paths[operation] !== undefined &&
      deployment[operationRules(operation).baseUrl] !== undefined,
  );
  const handlers = available.map((operation) => {
    const { method } = operationRules(operation);
    const path = new URL(operationUrl(sandbox.deployment, operation)).pathname;
    const resolver: MswResolver = ({ request }) => answer(sandbox, request, path);
    const address = exactUrl(operationUrl(deployment, operation));
    return method === 'GET' ? http.get(address, resolver) : http.post(address, resolver);
  });
  const { onboardingBaseUrl } = deployment;
  if (onboardingBaseUrl === undefined) return handlers;
  // A link has the origin of the request that caused it.
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
    const response = await sandbox.fetch(url, { method, headers, body, signal });
    // It is decompressed: msw would try to do so again.
    for (const name of ['content-encoding', 'content-length']) response.headers.delete(name);
    return response;
  } catch {
    // An error of the sandbox's `fetch` is a broken connection.
    return Response.error();
  }
}

/** A regular expression, since msw gives `:id`, `*` and upper case a meaning. */
function exactUrl(url: string): RegExp {
  return new RegExp(`^${escaped(url)}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
