import 'reflect-metadata';
import { All, Body, Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import express from 'express';
import {
  fastifyPlugin,
  type NodeRequest,
  type NodeResponse,
  type Webhooks,
} from '../../../../src/webhooks/index.ts';
import { listen, type Mounted, mountServer } from './mount.ts';

export async function mountNest(webhooks: Webhooks, { rawBody }: { rawBody: boolean }): Promise<Mounted> {
  const server = express();
  const app = await NestFactory.create(moduleFor(webhooks), new ExpressAdapter(server), {
    rawBody,
    logger: false,
  });
  await app.init();
  const { port, close } = await listen(server);
  return { port, close: async () => void (await Promise.all([close(), app.close()])) };
}

/** Added before `init`, which adds the parsers. */
export async function mountBeforeNest(webhooks: Webhooks): Promise<Mounted> {
  class App {}
  Module({ controllers: [echoController()] })(App);
  const server = express();
  const app = await NestFactory.create(App, new ExpressAdapter(server), { logger: false });
  app.use('/', webhooks.node);
  await app.init();
  const { port, close } = await listen(server);
  return { port, close: async () => void (await Promise.all([close(), app.close()])) };
}

/** NestJS on Fastify, whose controllers have the rest of the application. */
export async function mountNestOnFastify(webhooks: Webhooks): Promise<Mounted> {
  class App {}
  Module({ controllers: [echoController()] })(App);
  const options = { logger: false } as const;
  const app = await NestFactory.create<NestFastifyApplication>(App, new FastifyAdapter(), options);
  await app.register(fastifyPlugin(webhooks, { path: '/' }));
  await app.init();
  const server = app.getHttpAdapter().getInstance();
  await server.ready();
  const { port, close } = await mountServer(server.server);
  return { port, close: async () => void (await Promise.all([close(), app.close()])) };
}

/** What decorator syntax would make of it: Node runs these files as they are, and has none. */
function moduleFor(webhooks: Webhooks) {
  class OrderEvents {
    receive(request: NodeRequest, response: NodeResponse): Promise<void> {
      return webhooks.node(request, response);
    }
  }
  const { prototype } = OrderEvents;
  const method = Object.getOwnPropertyDescriptor(prototype, 'receive') ?? {};
  Controller()(OrderEvents);
  All('/')(prototype, 'receive', method);
  Req()(prototype, 'receive', 0);
  Res()(prototype, 'receive', 1);
  class App {}
  Module({ controllers: [OrderEvents] })(App);
  return App;
}

/** A controller that needs Fastify's parser of JSON. */
function echoController() {
  class Echo {
    echo(body: unknown): unknown {
      return body;
    }
  }
  const { prototype } = Echo;
  Controller('echo')(Echo);
  Post()(prototype, 'echo', Object.getOwnPropertyDescriptor(prototype, 'echo') ?? {});
  Body()(prototype, 'echo', 0);
  return Echo;
}
