/**
 * The application of docs/guides/nestjs-and-postgres.md: a shop that sells crypto, in any number of replicas over one
 * PostgreSQL. Compile it as any NestJS application; `../two-replicas.ts` runs two of it.
 */
import 'reflect-metadata';
import { isDeepStrictEqual } from 'node:util';
import {
  type BeforeApplicationShutdown,
  Body,
  ConflictException,
  Controller,
  Get,
  Header,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Param,
  Post,
  ServiceUnavailableException,
} from '@nestjs/common';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import { type BuyOrder, createKeyRing, ExchangeClient, readEnvironment } from 'partner-exchange-sdk';
import { effectKey } from 'partner-exchange-sdk/events';
import { storeInbox } from 'partner-exchange-sdk/inbox';
import { aesGcm, createKeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createOrderJournal, type JournaledOrder, type OrderLoop } from 'partner-exchange-sdk/orders';
import { postgresStore } from 'partner-exchange-sdk/store';
import { closeServer, createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';
import { prometheus } from '../support/prometheus.ts';

const { DATABASE_URL, PUBLIC_URL, KEY_ENCRYPTION_KEY = '', PORT = '3000' } = process.env;

interface Purchase {
  id: string;
  customer: string;
  fiat_amount: string;
  address: string;
}

/** Everything of the package that this process has, and its way to the database. */
@Injectable()
class Partner implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  @Inject(HttpAdapterHost) private readonly http!: HttpAdapterHost;

  readonly pool = new pg.Pool({ connectionString: DATABASE_URL });
  readonly store = postgresStore({ client: this.pool });
  readonly metrics = prometheus();

  private readonly deployment = readEnvironment(process.env, {
    // By this sign your service accepts an order: find it out at staging.
    readOrderReply: ({ body }) => (Object(body).platform_order_ref ? 'accepted' : 'unknown'),
  }).deployment;
  private readonly rotation = createKeyRotation({
    storage: storedKeys({
      store: this.store,
      ...aesGcm({ keys: [{ id: '2026-11', key: KEY_ENCRYPTION_KEY }] }),
    }),
  });
  private readonly ring = createKeyRing({ load: this.rotation.credentials });

  readonly inbox = storeInbox({ store: this.store, timeLimitMs: 5_000 });
  readonly journal = createOrderJournal({
    exchange: new ExchangeClient({
      deployment: this.deployment,
      credentials: this.ring,
      timeoutMs: 3_000,
      totalTimeoutMs: 4_000,
      onResponse: this.metrics.onResponse,
    }),
    store: this.store,
    leaseMs: 5_000,
    onSettled: (order) => this.writeState(order),
  });
  readonly webhooks = createWebhooks({
    deployment: this.deployment,
    credentials: this.ring,
    inbox: this.inbox,
    onDelivery: this.metrics.onDelivery,
  })
    .onAny(this.journal.observe)
    .onUnrecognized(this.journal.observe)
    .on('event.buy.credited.crypto', async (event, context) => {
      const effect = effectKey(event, context);
      const amount = context.decimal('crypto_amount_to_receive');
      // At last a dead letter, for a person.
      if (effect === undefined || amount === undefined)
        throw new Error('The event names no order or no amount.');
      await this.inTransaction(async (client) => {
        const { rowCount } = await client.query(
          'INSERT INTO credits VALUES ($1, $2, $3) ON CONFLICT (effect) DO NOTHING',
          [effect, event.partner_order_id, amount],
        );
        // Another text about this credit has been here before.
        if (rowCount === 1) {
          const { rows } = await client.query(
            `UPDATE purchases SET state = 'credited' WHERE id = $1 RETURNING customer`,
            [event.partner_order_id],
          );
          await client.query('UPDATE customers SET balance = balance + $2 WHERE id = $1', [
            rows[0].customer,
            amount,
          ]);
        }
        // Committed with the credit, or not at all: this delivery is never handled again.
        await context.handledIn(postgresStore({ client }));
      });
    });
  private loop: OrderLoop | undefined;

  onApplicationBootstrap(): void {
    // An idle connection that ends would end the process.
    this.pool.on('error', (error) => console.error('PostgreSQL:', error.message));
    this.loop = this.journal.start({
      load: ({ partner_order_id }) => this.readOrder(partner_order_id),
      // Prices of this shop hold for half a minute. A person looks at what is open then, or unknown for two seconds.
      maxAgeMs: 30_000,
      evidenceWithinMs: 2_000,
      onUnknown: (order, reason) => this.needsPerson(order, reason),
      onError: (error) => console.error('Orders:', error instanceof Error ? error.message : error),
    });
  }

  /** SIGTERM: no more orders, no more requests, then no more events, and the database last. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
    await closeServer(this.http.httpAdapter.getHttpServer(), { inbox: this.inbox, timeoutMs: 10_000 });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.store.close();
    await this.pool.end();
    console.log('stopped');
  }

  async inTransaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((broken: Error) => {
        failure = broken;
      });
      throw error;
    } finally {
      client.release(failure);
    }
  }

  async readOrder(id: string): Promise<BuyOrder> {
    const { rows } = await this.pool.query('SELECT * FROM purchases WHERE id = $1', [id]);
    return orderOf(rows[0]);
  }

  /** By a request, an event or a person, in any order of arrival. A credit may have come before. */
  async writeState({ partner_order_id, revision, state }: JournaledOrder, shown = state): Promise<void> {
    await this.pool.query(
      `UPDATE purchases SET state = $2, revision = $3 WHERE id = $1 AND revision < $3 AND state <> 'credited'`,
      [partner_order_id, shown, revision],
    );
  }

  private async needsPerson(order: JournaledOrder, reason: string): Promise<void> {
    console.error(`A person looks at the service for ${order.partner_order_id}: ${reason}`);
    await this.writeState(order, 'unknown');
  }
}

function orderOf({ id, fiat_amount, address }: Purchase): BuyOrder {
  return {
    partner_order_id: id,
    fiat_amount,
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: address,
    partner_callback_url: `${PUBLIC_URL}/partner/events`,
  };
}

@Controller('purchases')
class Purchases {
  @Inject(Partner) private readonly partner!: Partner;

  /** A buyer who got no answer sends the same purchase again, with the same id. */
  @Post()
  async buy(@Body() purchase: Purchase): Promise<{ state: string }> {
    const { journal } = this.partner;
    const order = await this.partner.inTransaction(async (client) => {
      const { rowCount } = await client.query(
        'INSERT INTO purchases (id, customer, fiat_amount, address) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING',
        [purchase.id, purchase.customer, purchase.fiat_amount, purchase.address],
      );
      const { rows } = await client.query('SELECT * FROM purchases WHERE id = $1', [purchase.id]);
      // The row is sent, never the request: one of the two would be another order.
      const stored = orderOf(rows[0]);
      if (!isDeepStrictEqual(stored, orderOf(purchase)))
        throw new ConflictException('This id stands for another purchase.');
      // The row and the intent are committed together: if this process dies now, a loop sends the order.
      if (rowCount === 1) await journal.prepare(stored, { store: postgresStore({ client }) });
      return stored;
    });
    const { state, order: journaled } = await journal.create(order);
    await this.partner.writeState(journaled);
    return { state };
  }

  /** For the person who has looked at the service. Protect it as you protect your back office. */
  @Post(':id/settle')
  async settle(
    @Param('id') id: string,
    @Body()
    body: { decision: 'accepted' | 'abandoned' | 'rejected'; note: string; events?: string[] },
  ): Promise<void> {
    const { decision, note, events } = body;
    await this.partner.journal.settle(id, decision, note, { events });
  }
}

@Controller()
class Operations {
  @Inject(Partner) private readonly partner!: Partner;

  /** Liveness: the process answers. An outage of the database must not restart it. */
  @Get('health/live')
  live(): string {
    return 'ok';
  }

  /** Readiness: its store answers. What is unhealthy about orders and events is for alerts, not for the balancer. */
  @Get('health/ready')
  async ready(): Promise<object> {
    return await this.health().catch((cause: unknown) => {
      throw new ServiceUnavailableException('The database does not answer.', { cause });
    });
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4')
  async figures(): Promise<string> {
    return this.partner.metrics.text(await this.health());
  }

  private async health() {
    const { webhooks, journal } = this.partner;
    return { ...(await webhooks.health()), orders: await journal.health() };
  }
}

@Module({ controllers: [Purchases, Operations], providers: [Partner] })
class Shop {}

const app = await NestFactory.create(Shop, { logger: ['error', 'warn'] });
// Before the body parsers: the signature covers the bytes.
app.use('/partner/events', app.get(Partner).webhooks.node);
app.enableShutdownHooks(['SIGTERM']);
await app.listen(Number(PORT), '127.0.0.1');
console.log(await app.getUrl());
