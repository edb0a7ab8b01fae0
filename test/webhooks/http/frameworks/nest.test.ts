import 'reflect-metadata';
import { All, Controller, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { expect, it } from 'vitest';
import type { NodeRequest, NodeResponse, Webhooks } from '../../../../src/webhooks/index.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { send } from '../server.ts';
import { describeFramework } from './contract.ts';
import { listen } from './listen.ts';

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

describeFramework(
  'NestJS with rawBody: true',
  async (webhooks) => {
    const server = express();
    const app = await NestFactory.create(moduleFor(webhooks), new ExpressAdapter(server), {
      rawBody: true,
      logger: false,
    });
    await app.init();
    const { port, close } = await listen(server);
    return { port, close: async () => void (await Promise.all([close(), app.close()])) };
  },
  { slowBody: 'server' },
);

it('NestJS without rawBody: true is told to set it', async () => {
  const { events, webhooks } = recordingWebhooks();
  const server = express();
  const app = await NestFactory.create(moduleFor(webhooks), new ExpressAdapter(server), { logger: false });
  await app.init();
  const { port, close } = await listen(server);
  let status = 0;
  const warnings = await warningsDuring(async () => {
    const headers = { 'content-type': 'application/json' };
    ({ status } = await send(port, { headers, body: delivery(buyInitBody()) }));
  });
  await Promise.all([close(), app.close()]);
  expect([status, events]).toEqual([500, []]);
  expect(String(warnings)).toContain('NestFactory.create(AppModule, { rawBody: true })');
});
