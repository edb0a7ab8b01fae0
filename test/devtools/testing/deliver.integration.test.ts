import { fastify } from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { deliver } from '../../../src/devtools/testing/deliver.ts';
import { eventBody } from '../../../src/devtools/testing/event-body.ts';
import { signedDelivery } from '../../../src/devtools/testing/signed-delivery.ts';
import { fastifyPlugin } from '../../../src/webhooks/fastify-plugin.ts';
import { lambdaHandler } from '../../../src/webhooks/lambda-handler.ts';
import { credentials, recordingWebhooks } from '../../webhooks/deliveries.ts';
import { serve } from '../../webhooks/http/server.ts';

const body = eventBody('event.buy.credited.crypto', { partner_callback_url: 'https://acme.example/orders' });
const delivery = signedDelivery(body, { credentials });

describe('deliver', () => {
  it('passes a delivery to webhooks, any number of times', async () => {
    const { events, webhooks } = recordingWebhooks();
    expect((await deliver(webhooks, delivery)).status).toBe(200);
    const again = await deliver(webhooks, delivery);
    expect(await again.json()).toEqual({ received: true });
    expect(events).toMatchObject([body]);
  });

  it("passes it to an app, whose routes see the delivery's own URL", async () => {
    const { events, webhooks } = recordingWebhooks();
    const app = new Hono();
    app.post('/orders', (context) => webhooks.fetch(context.req.raw));
    expect((await deliver(app, delivery)).status).toBe(200);
    expect(events).toHaveLength(1);
  });

  it('posts it to a server, by text or URL, and follows no redirect', async () => {
    const { events, webhooks } = recordingWebhooks();
    await using server = await serve(webhooks.node);
    const url = `http://127.0.0.1:${server.port}/orders`;
    expect((await deliver(url, delivery)).status).toBe(200);
    expect((await deliver(new URL(url), delivery)).status).toBe(200);
    expect(events).toMatchObject([body]);
    await using elsewhere = await serve((_, response) => response.writeHead(307, { location: url }).end());
    expect((await deliver(`http://127.0.0.1:${elsewhere.port}/`, delivery)).status).toBe(307);
  });

  it('is not needed for Fastify and Lambda, as docs/guides/test-your-integration.md says', async () => {
    const { events, webhooks } = recordingWebhooks();
    const app = fastify();
    await app.register(fastifyPlugin(webhooks, { path: '/orders' }));
    const { headers, body: payload } = delivery;
    expect((await app.inject({ method: 'POST', url: '/orders', headers, payload })).statusCode).toBe(200);
    const handler = lambdaHandler(webhooks);
    const requestContext = { http: { method: 'POST' } };
    const answer = await handler({ requestContext, headers, body: payload, isBase64Encoded: false });
    expect(answer.statusCode).toBe(200);
    expect(events).toMatchObject([body]);
  });

  it('refuses what it cannot deliver to', async () => {
    // @ts-expect-error no delivery
    await expect(deliver('https://acme.example/', body)).rejects.toMatchObject({ code: 'invalid_option' });
    for (const target of [undefined, null, 7, {}, { fetch: 1 }, '/orders', '']) {
      // @ts-expect-error some of these are no targets, the others no URLs
      await expect(deliver(target, delivery)).rejects.toMatchObject({ code: 'invalid_option' });
    }
  });
});
