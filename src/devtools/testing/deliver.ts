import { platformFetch } from '../../deployment/platform-fetch.ts';
import {
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  optional,
} from '../../internal/options.ts';
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

/** Options of {@link deliver}. */
export interface DeliverOptions {
  /** The URL of the request for a function or an app. @default the delivery's own `url` */
  url?: string | URL | undefined;
  /** Posts to a URL. @default globalThis.fetch */
  fetch?: typeof globalThis.fetch | undefined;
}

const readOptions = defineOptions('deliver', {
  url: optional(checkUrl),
  fetch: optional(callback<typeof globalThis.fetch>()),
} satisfies OptionTable<DeliverOptions>);

/**
 * Passes a delivery to a receiver once. Redirects are not followed.
 *
 * @returns the answer, whatever its status
 * @throws {ConfigurationError} `invalid_option` for an invalid target, and for unknown options
 * @example
 * ```ts
 * const delivery = signedDelivery(eventBody('event.buy.init'), { credentials });
 * assert.equal((await deliver(webhooks, delivery)).status, 200);
 * assert.equal((await deliver('http://127.0.0.1:3000/orders', delivery)).status, 200);
 * ```
 */
export async function deliver(
  target: DeliveryTarget,
  delivery: SignedDelivery,
  options: DeliverOptions = {},
): Promise<Response> {
  const { url, fetch = platformFetch } = readOptions(options);
  if (typeof delivery?.body !== 'string') {
    throw invalidOption('deliver needs a delivery as its second argument: the result of signedDelivery.');
  }
  if (typeof target === 'string' || target instanceof URL) {
    if (!URL.canParse(String(target))) throw invalidOption('The URL to deliver to must be absolute.');
    const { headers, body } = delivery;
    return await fetch(target, { method: 'POST', headers, body, redirect: 'manual' });
  }
  const request = delivery.request(url);
  if (typeof target === 'function') return await target(request);
  if (typeof target?.fetch === 'function') return await target.fetch(request);
  throw invalidOption(
    'deliver needs a URL, a function of a Request, or an object with such a `fetch`: what createWebhooks returns, or an app.',
  );
}

function checkUrl(url: unknown): string | URL {
  if (typeof url === 'string' || url instanceof URL) return url;
  throw invalidOption('url must be a URL or its text.');
}
