import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { memoryStore } from '../../src/store/memory-store.ts';
import { openStore } from '../store/open-store.ts';
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
} from '../support/private-server.ts';
import { benchQueueInbox } from './inbox-queues.ts';
import { benchStoreInbox } from './inbox-stores.ts';
import { report, type Section } from './report.ts';

/*
 * The cost of the inboxes, each beside the engine below it without an inbox. Every server is started for this, and
 * writes to disk before it answers, unless its row says otherwise.
 */

interface Engine {
  readonly missing?: string | undefined;
  bench(folder: string): Promise<Section>;
}

const engines: Readonly<Record<string, Engine>> = {
  memory: { bench: () => benchStoreInbox('memoryStore', memoryStore()) },
  sqlite: { bench: (folder) => benchStore('sqliteStore', 'sqlite', folder) },
  redis: {
    missing: missingForRedis(),
    bench: (folder) =>
      withServer(startRedis(folder), (port) =>
        benchStore('redisStore', 'ioredis', `redis://127.0.0.1:${port}`),
      ),
  },
  postgres: {
    missing: missingForPostgres(),
    bench: (folder) =>
      withServer(startPostgres(folder), (port) =>
        benchStore('postgresStore', 'postgres', `postgres://postgres@127.0.0.1:${port}/postgres`),
      ),
  },
  rabbitmq: {
    missing: missingForRabbitmq(),
    bench: (folder) =>
      withServer(startRabbitmq(folder), (port) =>
        benchQueueInbox('RabbitMQ', 'rabbitmq', `amqp://127.0.0.1:${port}`),
      ),
  },
  nats: {
    missing: missingForNats(),
    bench: (folder) =>
      withServer(startNats(folder), (port) =>
        benchQueueInbox('NATS JetStream', 'nats', `nats://127.0.0.1:${port}`),
      ),
  },
};

const { values: flags } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true, default: Object.keys(engines) },
  },
});

const sections: Section[] = [];
for (const name of flags.engine) {
  const engine = engines[name];
  if (engine === undefined)
    throw new Error(`There is no engine ${name}. There are ${Object.keys(engines).join(', ')}.`);
  if (engine.missing !== undefined) {
    console.log(`${name}: left out, there is no ${engine.missing}.`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), 'bench-inboxes-'));
  sections.push(await engine.bench(folder).finally(() => rmSync(folder, { recursive: true, force: true })));
}
report(sections);

async function withServer(
  starting: Promise<PrivateServer>,
  bench: (port: number) => Promise<Section>,
): Promise<Section> {
  const server = await starting;
  return await bench(server.port).finally(server.stop);
}

async function benchStore(how: string, engine: string, address: string): Promise<Section> {
  const { store, close } = await openStore(engine, address, 'bench');
  return await benchStoreInbox(how, store).finally(close);
}
