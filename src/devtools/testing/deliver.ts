import { platformFetch } from '../../deployment/platform-fetch.ts';
import { invalidOption } from '../../internal/options.ts';
import type { SignedDelivery } from './signed-delivery.ts';

/**
 * The URL of a running server, or an object or function that answers a `Request`: the result of `createWebhooks`, a
 * Hono app, a server object of Bun, Deno or Workers, a route handler of Next.js.
 * @inline
 */
export type DeliveryTarget =
  | string
  | URL
  | { fetch(request: Request): Response | Promise<Response> }
  | ((request: Request) => Response | Promise<Response>);

/**
 * Passes a delivery to a receiver once. Redirects are not followed.
 *
 * @returns the answer, whatever its status
 * @throws {ConfigurationError} `invalid_option` for an invalid target
 * @example
 * ```ts
 * const delivery = signedDelivery(eventBody('event.buy.init'), { credentials });
 * assert.equal((await deliver(webhooks, delivery)).status, 200);
 * assert.equal((await deliver('http://127.0.0.1:3000/orders', delivery)).status, 200);
 * ```
 */
export async function deliver(target: DeliveryTarget, delivery: SignedDelivery): Promise<Response> {
  if (typeof delivery?.body !== 'string') {
    throw invalidOption('deliver needs a delivery as its second argument: the result of signedDelivery.');
  }
  if (typeof target === 'string' || target instanceof URL) {
    if (!URL.canParse(String(target))) throw invalidOption('The URL to deliver to must be absolute.');
    const { headers, body } = delivery;
    return await platformFetch(target, { method: 'POST', headers, body, redirect: 'manual' });
  }
  if (typeof target === 'function') return await target(delivery.request());
  if (typeof target?.fetch === 'function') return await target.fetch(delivery.request());
  throw invalidOption(
    'deliver needs a URL, a function of a Request, or an object with such a `fetch`: what createWebhooks returns, or an app.',
  );
}
