import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingForPostgres, missingForRedis, startPostgres, startRedis } from '../support/private-server.ts';
import { benchBullmqInbox } from './inbox-bullmq.ts';
import { benchPgBossInbox } from './inbox-pg-boss.ts';
import { benchStoreInbox } from './inbox-stores.ts';
import { report, type Section } from './report.ts';

/** The cost of the inboxes: on Redis and PostgreSQL beside BullMQ and pg-boss without an inbox, and over record stores. */
export async function benchInboxes(): Promise<Section[]> {
  const sections: Section[] = [];
  for (const { name, missing, bench } of engines) {
    if (missing === undefined) {
      const folder = mkdtempSync(join(tmpdir(), 'bench-inboxes-'));
      sections.push(await bench(folder).finally(() => rmSync(folder, { recursive: true, force: true })));
    } else {
      sections.push({ title: `${name}: left out, there is no ${missing}`, findings: [] });
    }
  }
  return sections;
}

const engines = [
  {
    name: 'BullMQ inbox, Redis in memory only',
    missing: missingForRedis(),
    bench: async (folder: string) => {
      const redis = await startRedis(folder, ['--appendonly', 'no']);
      return await benchBullmqInbox('in memory only', redis.port).finally(redis.stop);
    },
  },
  {
    name: 'BullMQ inbox, Redis with appendfsync always',
    missing: missingForRedis(),
    bench: async (folder: string) => {
      const redis = await startRedis(folder);
      return await benchBullmqInbox('with appendfsync always', redis.port).finally(redis.stop);
    },
  },
  {
    name: 'pg-boss inbox',
    missing: missingForPostgres(),
    bench: async (folder: string) => {
      const postgres = await startPostgres(folder);
      return await benchPgBossInbox(postgres.port).finally(postgres.stop);
    },
  },
  {
    name: 'inbox over sqliteStore',
    missing: undefined,
    bench: (folder: string) => benchStoreInbox('sqliteStore', 'sqlite', folder),
  },
  {
    name: 'inbox over redisStore',
    missing: missingForRedis(),
    bench: async (folder: string) => {
      const redis = await startRedis(folder);
      const how = 'redisStore, Redis with appendfsync always';
      return await benchStoreInbox(how, 'ioredis', `redis://127.0.0.1:${redis.port}`).finally(redis.stop);
    },
  },
  {
    name: 'inbox over postgresStore',
    missing: missingForPostgres(),
    bench: async (folder: string) => {
      const postgres = await startPostgres(folder);
      const address = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
      return await benchStoreInbox('postgresStore', 'postgres', address).finally(postgres.stop);
    },
  },
];

if (import.meta.main) report(await benchInboxes());
