import 'reflect-metadata';
import { All, Controller, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import type { NodeRequest, NodeResponse, Webhooks } from '../../../../src/webhooks/index.ts';
import type { Mounted } from './contract.ts';
import { listen } from './listen.ts';

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
