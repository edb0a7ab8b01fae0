import type { Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import type { Mounted } from './contract.ts';
import { mountFetch } from './mount-fetch.ts';

// Next.js is not installed: the shape of its route handlers is all that the webhooks meet of it.
export const mountNext = (webhooks: Webhooks): Promise<Mounted> => runRoute(routeModule(webhooks));

/** app/orders/route.ts: what it exports is all that Next.js knows of it. */
function routeModule(webhooks: Webhooks) {
  return {
    async POST(request: Request): Promise<Response> {
      return await webhooks.fetch(request);
    },
  };
}

/** As Next.js does: a method that the module does not export is answered with 405, HEAD runs GET. */
function runRoute(route: Partial<Record<string, (request: Request) => Promise<Response>>>): Promise<Mounted> {
  return mountFetch((request) => {
    const handler = route[request.method === 'HEAD' ? 'GET' : request.method];
    return handler?.(request) ?? new Response(null, { status: 405 });
  });
}
