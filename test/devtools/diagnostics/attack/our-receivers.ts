import { buffer } from 'node:stream/consumers';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import type { Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { fastifyPlugin } from '../../../../src/webhooks/fastify-plugin.ts';
import { lambdaHandler } from '../../../../src/webhooks/lambda-handler.ts';
import {
  listen,
  type Mounted,
  mountFetch,
  mountNext,
  mountServer,
} from '../../../webhooks/http/frameworks/mount.ts';
import { mountAzure, mountGoogleCloud } from '../../../webhooks/http/frameworks/mount-cloud.ts';
import { mountNest, mountNestOnFastify } from '../../../webhooks/http/frameworks/mount-nest.ts';

/** Each mounts the webhooks as docs/details/runtimes.md says. */
export const ourReceivers: Readonly<Record<string, (webhooks: Webhooks) => Promise<Mounted>>> = {
  'node:http': (webhooks) => listen(webhooks.node),
  'the fetch handler': (webhooks) => mountFetch(webhooks.fetch),
  Hono(webhooks) {
    const app = new Hono();
    app.all('/', (context) => webhooks.fetch(context.req.raw));
    return mountFetch(app.fetch);
  },
  async Fastify(webhooks) {
    const app = fastify();
    await app.register(fastifyPlugin(webhooks, { path: '/' }));
    await app.ready();
    return mountServer(app.server);
  },
  'Express before body parsers'(webhooks) {
    const app = express();
    app.all('/', webhooks.node);
    return listen(app);
  },
  'Express behind express.json() that keeps the bytes'(webhooks) {
    const app = express();
    const verify = (request: object, _response: unknown, bytes: Buffer) =>
      void Object.assign(request, { rawBody: bytes });
    app.use(express.json({ verify }));
    app.all('/', webhooks.node);
    app.use((error: { status?: number }, _request: unknown, response: express.Response, _next: unknown) => {
      response.sendStatus(error.status ?? 500);
    });
    return listen(app);
  },
  Koa(webhooks) {
    const app = new Koa();
    app.use(async (context) => {
      // The webhooks answer by themselves.
      context.respond = false;
      await webhooks.node(context.req, context.res);
    });
    return listen(app.callback());
  },
  'NestJS on Express': (webhooks) => mountNest(webhooks, { rawBody: true }),
  'NestJS on Fastify': mountNestOnFastify,
  'a Next.js route handler': mountNext,
  'AWS Lambda'(webhooks) {
    const handler = lambdaHandler(webhooks);
    return listen(async (request, response) => {
      // Only a gateway's whole requests get to a function.
      const whole = await buffer(request).catch(() => undefined);
      if (whole === undefined) return;
      const { statusCode, headers, body } = await handler({
        requestContext: { http: { method: request.method ?? '' } },
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: whole.toString('base64'),
        isBase64Encoded: true,
      });
      response.writeHead(statusCode, headers).end(body);
    });
  },
  'Azure Functions': (webhooks) => mountAzure(webhooks, 'whole'),
  'Azure Functions with HTTP streams': (webhooks) => mountAzure(webhooks, 'streamed'),
  'Google Cloud Functions': mountGoogleCloud,
};
