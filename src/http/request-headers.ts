import type { Deployment } from '../deployment/define-deployment.ts';
import { userAgent } from './user-agent.ts';

/** The headers of every request; `json` for one with a body. The deployment's own come first and win. */
export function requestHeaders(deployment: Deployment<unknown>, body: 'json' | 'none'): Headers {
  const headers = new Headers({ accept: 'application/json', 'user-agent': userAgent, ...deployment.headers });
  if (body === 'json') headers.set('content-type', 'application/json');
  return headers;
}
