import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbitmq } from 'amqplib';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import {
  missingForNats,
  missingForPostgres,
  missingForRabbitmq,
  missingForRedis,
  type PrivateServer,
  startNats,
  startPostgres,
  startRabbitmq,
  startRedis,
} from '../../support/private-server.ts';

/** An example that keeps events in a broker, and what its misfortunes are there. */
export interface QueueProgram {
  /** Below the repository. */
  readonly file: string;
  readonly missing: string | undefined;
  start(folder: string): Promise<PrivateServer>;
  /** The variables that name the broker, where it is not the database. */
  env(port: number): Record<string, string>;
  /** Whether the broker is the database of the program too. @default false */
  readonly isDatabase?: boolean;
  /** Shorter times, also until a killed worker is missed. The thorough run of outages has those that are printed. */
  readonly quicker: Readonly<Record<string, string>>;
  /** Those that there are; absent where the program does not make them again. */
  deleteQueues?(port: number): Promise<void>;
  /** @param database of the program */
  deadLetters(port: number, database: string): Promise<number>;
  /** All that the engine still has of jobs, as text. */
  leftovers?(port: number, database: string): Promise<string>;
}

export const queuePrograms: readonly QueueProgram[] = [
  {
    file: 'examples/queues/rabbitmq.ts',
    missing: missingForRabbitmq(),
    start: startRabbitmq,
    env: (port) => ({ AMQP_URL: `amqp://guest:guest@127.0.0.1:${port}` }),
    quicker: { 'retryMs = 15_000': 'retryMs = 800', 'timeLimitMs = 30_000': 'timeLimitMs = 1_500' },
    deleteQueues: (port) =>
      withRabbitmq(port, async (channel) => {
        await channel.deleteQueue('events');
        await channel.deleteQueue('events.dead');
      }),
    deadLetters: (port) =>
      withRabbitmq(
        port,
        async (channel) => (await channel.assertQueue('events.dead', { durable: true })).messageCount,
      ),
  },
  {
    file: 'examples/queues/jetstream.ts',
    missing: missingForNats(),
    start: startNats,
    env: (port) => ({ NATS_URL: `nats://127.0.0.1:${port}` }),
    quicker: { 'timeLimitMs = 30_000': 'timeLimitMs = 1_500' },
    deleteQueues: (port) =>
      withJetStream(port, async ({ streams }) => {
        for await (const { config } of streams.list()) await streams.delete(config.name);
      }),
    deadLetters: (port) =>
      withJetStream(port, async ({ streams }) => (await streams.info('events-dead')).state.messages),
  },
  {
    file: 'examples/queues/bullmq.ts',
    missing: missingForRedis(),
    start: startRedis,
    env: (port) => ({ REDIS_URL: `redis://127.0.0.1:${port}` }),
    quicker: {
      'retryMs = 15_000': 'retryMs = 800',
      'timeLimitMs = 30_000': 'timeLimitMs = 1_500',
      'concurrency: 10': 'concurrency: 10, lockDuration: 3_000, stalledInterval: 1_000',
    },
    deleteQueues: (port) => withRedis(port, async (redis) => void (await redis.flushall())),
    async deadLetters(port) {
      const queue = new Queue('events', { connection: { port } });
      const count = await queue.getFailedCount();
      await queue.close();
      return count;
    },
    leftovers: (port) =>
      withRedis(port, async (redis) => {
        const jobs = await redis.keys('bull:events:*');
        const texts: unknown[] = [jobs];
        for (const key of jobs) {
          const type = await redis.type(key);
          if (type === 'hash') texts.push(await redis.hgetall(key));
          if (type === 'stream') texts.push(await redis.xrange(key, '-', '+'));
        }
        return JSON.stringify(texts);
      }),
  },
  {
    file: 'examples/queues/pg-boss.ts',
    missing: missingForPostgres(),
    start: startPostgres,
    env: () => ({}),
    isDatabase: true,
    quicker: {
      'retryDelay: 15': 'retryDelay: 1',
      'timeLimitMs = 30_000': 'timeLimitMs = 1_500',
      'heartbeatSeconds: 30': 'heartbeatSeconds: 10',
      'PgBoss({ connectionString })':
        'PgBoss({ connectionString, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 })',
    },
    deadLetters: (_, database) =>
      withPostgres(database, async (client) => {
        const query = "SELECT count(*)::int AS dead FROM pgboss.job WHERE name = 'events.dead'";
        return (await client.query(query)).rows[0].dead;
      }),
    leftovers: (_, database) =>
      withPostgres(database, async (client) =>
        JSON.stringify((await client.query('SELECT * FROM pgboss.job')).rows),
      ),
  },
];

async function withRedis<T>(port: number, run: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ port });
  try {
    return await run(redis);
  } finally {
    await redis.quit();
  }
}

async function withPostgres<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

type RabbitmqChannel = Awaited<ReturnType<Awaited<ReturnType<typeof connectRabbitmq>>['createChannel']>>;

async function withRabbitmq<T>(port: number, run: (channel: RabbitmqChannel) => Promise<T>): Promise<T> {
  const connection = await connectRabbitmq(`amqp://guest:guest@127.0.0.1:${port}`);
  try {
    return await run(await connection.createChannel());
  } finally {
    await connection.close();
  }
}

type Manager = Awaited<ReturnType<typeof jetstreamManager>>;

export async function withJetStream<T>(port: number, run: (manager: Manager) => Promise<T>): Promise<T> {
  const connection = await connectNats({ servers: `nats://127.0.0.1:${port}` });
  try {
    return await run(await jetstreamManager(connection));
  } finally {
    await connection.close();
  }
}
