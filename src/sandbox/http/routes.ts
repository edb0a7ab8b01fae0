import { type Deployment, operationUrl } from '../../deployment/define-deployment.ts';
import { type Operation, operationRules } from '../../deployment/operations.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { SandboxOperation } from '../faults/fault-table.ts';
import { Refusal } from './refusal.ts';

/** A request and its route. */
export interface RoutedRequest {
  readonly request: Request;
  readonly url: URL;
  /** IP address of the caller. */
  readonly ip: string;
  /** Empty for GET. */
  readonly body: Uint8Array;
}

export interface Route {
  readonly operation: SandboxOperation;
  readonly method: 'GET' | 'POST';
  /** The whole path. One that ends in `/*` matches any last segment. */
  readonly path: string;
  /** The required Content-Type; GET has no body. */
  readonly content: 'json' | 'any' | 'none';
  readonly handle: (call: RoutedRequest) => Response | Promise<Response>;
}

/** The route of an operation, at its path in the deployment. */
export function operationRoute(
  deployment: Deployment<unknown>,
  operation: Operation,
  route: Pick<Route, 'content' | 'handle'>,
): Route {
  // With the prefix of the base URL, which is the same at every address of the sandbox.
  const path = new URL(operationUrl(deployment, operation)).pathname;
  return { operation, method: operationRules(operation).method, path, ...route };
}

/** @throws {ConfigurationError} `invalid_deployment` if two operations share an address */
export function checkRoutes(routes: readonly Route[]): readonly Route[] {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const address = `${method} ${path}`;
    if (seen.has(address)) {
      throw new ConfigurationError('invalid_deployment', `Two operations have the address ${address}.`);
    }
    seen.add(address);
  }
  return routes;
}

/** The operation at an address; `undefined` if there is none. */
export function operationAt(
  routes: readonly Route[],
  { method, path }: { method: string; path: string },
): SandboxOperation | undefined {
  return routes.find((route) => route.method === method && matches(route.path, path))?.operation;
}

/** Answers a request by the first route with its path and method. */
export async function answer(
  routes: readonly Route[],
  { readBody, ...call }: Omit<RoutedRequest, 'body'> & { readBody: () => Promise<Uint8Array> },
): Promise<Response> {
  const route = findRoute(routes, call.request.method, call.url.pathname);
  if (route.content === 'json') requireJsonType(call.request);
  return route.handle({ ...call, body: route.content === 'none' ? new Uint8Array() : await readBody() });
}

function findRoute(routes: readonly Route[], method: string, path: string): Route {
  const here = routes.filter((route) => matches(route.path, path));
  const found = here.find((route) => route.method === method);
  if (found !== undefined) return found;
  if (here.length > 0) {
    const allow = here.map((route) => route.method).join(', ');
    throw new Refusal(405, 'method_not_allowed', `Only ${allow} is answered here.`, { allow });
  }
  const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  const hint = routes.some((route) => matches(route.path, slashed)) ? ' Mind the slash at the end.' : '';
  throw new Refusal(404, 'not_found', `Nothing is at this path.${hint}`);
}

function matches(pattern: string, path: string): boolean {
  if (!pattern.endsWith('/*')) return pattern === path;
  const prefix = pattern.slice(0, -1);
  return path.startsWith(prefix) && path.length > prefix.length && !path.slice(prefix.length).includes('/');
}

function requireJsonType(request: Request): void {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The Content-Type must be application/json.');
  }
}
