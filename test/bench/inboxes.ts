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
import type { Chart } from './chart.ts';
import type { InboxSection } from './deliveries.ts';
import { benchQueueInbox } from './inbox-queues.ts';
import { benchStoreInbox } from './inbox-stores.ts';
import { report } from './report.ts';

/*
 * The cost of the inboxes, each beside the engine below it without an inbox. Every server is started for this, and
 * writes to disk before it answers, unless its row says otherwise.
 */

interface Engine {
  readonly missing?: string | undefined;
  bench(folder: string): Promise<InboxSection>;
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
    plot: { type: 'boolean', default: false },
  },
});

const sections: InboxSection[] = [];
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
report(
  sections.map((section) =>
    section === sections.at(-1) ? { ...section, charts: chartsOf(sections) } : section,
  ),
  flags,
);

function chartsOf(sections: readonly InboxSection[]): Chart[] {
  return [
    {
      kind: 'bars',
      name: 'rates-of-inboxes',
      title: 'Deliveries stored, 32 at a time, without HTTP',
      description: 'Deliveries a second that each inbox stores, beside the engine below it without an inbox.',
      unit: 'deliveries a second (more is better)',
      bars: sections.flatMap(({ rates }) => rates),
    },
    {
      kind: 'lines',
      name: 'cost-by-backlog',
      title: 'Storing a delivery, by the deliveries that wait',
      description: 'Microseconds to store one delivery stay about the same however many wait.',
      x: 'deliveries that wait',
      y: 'µs for each delivery, 32 at a time',
      lines: sections.flatMap(({ byBacklog }) => byBacklog?.filter(({ own }) => own) ?? []),
    },
  ];
}

async function withServer(
  starting: Promise<PrivateServer>,
  bench: (port: number) => Promise<InboxSection>,
): Promise<InboxSection> {
  const server = await starting;
  return await bench(server.port).finally(server.stop);
}

async function benchStore(how: string, engine: string, address: string): Promise<InboxSection> {
  const { store, close } = await openStore(engine, address, 'bench');
  return await benchStoreInbox(how, store).finally(close);
}
