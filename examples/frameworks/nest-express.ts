/**
 * NestJS on Express: with `rawBody: true` it keeps the bytes that the signature covers.
 *
 * The decorators are called as functions, since Node runs this file as it is. In your project:
 *
 * ```ts
 * @Controller('orders')
 * class OrderEvents {
 *   @All() receive(@Req() request: Request, @Res() response: Response) { return webhooks.node(request, response); }
 * }
 * ```
 */
import 'reflect-metadata';
import { All, Controller, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Request, Response } from 'express';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

class OrderEvents {
  receive(request: Request, response: Response): Promise<void> {
    return webhooks.node(request, response);
  }
}
const { prototype } = OrderEvents;
Controller('orders')(OrderEvents);
All()(prototype, 'receive', Object.getOwnPropertyDescriptor(prototype, 'receive') ?? {});
Req()(prototype, 'receive', 0);
Res()(prototype, 'receive', 1);

class App {}
Module({ controllers: [OrderEvents] })(App);

const app = await NestFactory.create(App, { rawBody: true, logger: ['error'] });
await app.listen(0, '127.0.0.1');
await deliverTo(`${await app.getUrl()}/orders`);
await app.close();
