import { type Deployment, operationUrl } from '../deployment/define-deployment.ts';
import { type Operation, type OperationRules, operationRules } from '../deployment/operations.ts';
import type { RequestError } from '../errors/request-error.ts';
import type { Call, CallOptions } from './call.ts';
import { userAgent } from './user-agent.ts';

/** What a call adds to the rules of its operation. */
export interface CallContent<Body> {
  /** Proves who calls. The rules say where it goes; an API key in the body is already there. */
  readonly credential?: string | undefined;
  /** Exactly what is posted: JSON. */
  readonly body?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Added to the headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Never shown in an error; credential, body and query are added to these. */
  readonly secrets: readonly string[];
  readonly options: CallOptions<Body>;
  /** How the service refused the same call with other keys. */
  readonly before?: RequestError | undefined;
}

/**
 * Builds the request of an operation from the table of operations.
 *
 * @throws {ConfigurationError} `not_configured` when the deployment has no address for it
 */
export function makeCall<Body>(
  deployment: Deployment<unknown>,
  operation: Operation,
  content: CallContent<Body>,
): Call<Body> {
  const { method, authorization, repeat } = operationRules(operation);
  const { body, credential, options, before } = content;
  const url = new URL(operationUrl(deployment, operation));
  for (const [name, value] of Object.entries(content.query ?? {})) url.searchParams.set(name, value);
  const headers = new Headers({
    accept: 'application/json',
    'user-agent': userAgent,
    // The deployment may replace these two headers, but not those below.
    ...deployment.headers,
    ...content.headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...authorizationHeader(authorization, credential),
  });
  const secrets = [...content.secrets, credential ?? '', body ?? '', url.search === '' ? '' : url.href];
  return { operation, method, url: url.href, headers, body, repeat, secrets, options, before };
}

function authorizationHeader(
  authorization: OperationRules['authorization'],
  credential: string | undefined,
): Record<string, string> {
  if (credential === undefined) return {};
  if (authorization === 'public-key') return { authorization: `Bearer ${credential}` };
  // The master key goes bare, without a scheme in front (contract: Endpoints 6).
  return authorization === 'master-key' ? { authorization: credential } : {};
}
