/** NestJS on Fastify: the plugin has a scope of its own, without the body parsers of the controllers. */
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createWebhooks, fastifyPlugin } from 'partner-exchange-sdk/webhooks';
import { credentials } from '../support/signed-events.ts';
import { deliverTo } from './support/deliver.ts';

const webhooks = createWebhooks({ credentials }).on('event.buy.credited.crypto', (event) =>
  console.log('credited', event.partner_order_id, event.crypto_txn_hash),
);

class App {}
Module({})(App);

const app = await NestFactory.create<NestFastifyApplication>(App, new FastifyAdapter(), {
  logger: ['error'],
});
await app.register(fastifyPlugin(webhooks, { path: '/orders' }));
await app.listen(0, '127.0.0.1');
await deliverTo(`${await app.getUrl()}/orders`);
await app.close();
