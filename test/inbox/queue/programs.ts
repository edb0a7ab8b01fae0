import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbitmq } from 'amqplib';
import {
  missingForNats,
  missingForRabbitmq,
  type PrivateServer,
  startNats,
  startRabbitmq,
} from '../../support/private-server.ts';
import { isThorough } from '../../support/repeat.ts';

/** An example that keeps events in a broker, and what its misfortunes are there. */
export interface QueueProgram {
  /** Below the repository. */
  readonly file: string;
  readonly missing: string | undefined;
  start(folder: string): Promise<PrivateServer>;
  /** The variables that name the broker. */
  env(port: number): Record<string, string>;
  /** Shorter times, so that the everyday run is short. The thorough one runs the program as it is printed. */
  readonly quicker: Readonly<Record<string, string>>;
  /** Those that there are. */
  deleteQueues(port: number): Promise<void>;
  deadLetters(port: number): Promise<number>;
}

export const queuePrograms: readonly QueueProgram[] = [
  {
    file: 'examples/queues/rabbitmq.ts',
    missing: missingForRabbitmq(),
    start: startRabbitmq,
    env: (port) => ({ AMQP_URL: `amqp://guest:guest@127.0.0.1:${port}` }),
    quicker: isThorough
      ? {}
      : { 'retryMs = 15_000': 'retryMs = 800', 'timeLimitMs = 30_000': 'timeLimitMs = 1_500' },
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
    quicker: isThorough ? {} : { 'timeLimitMs = 30_000': 'timeLimitMs = 1_500' },
    deleteQueues: (port) =>
      withJetStream(port, async ({ streams }) => {
        for await (const { config } of streams.list()) await streams.delete(config.name);
      }),
    deadLetters: (port) =>
      withJetStream(port, async ({ streams }) => (await streams.info('events-dead')).state.messages),
  },
];

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
