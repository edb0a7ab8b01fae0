/**
 * Writes every stored format as this build writes it into the folder of a release: `node test/formats/make-fixtures.ts
 * 0.3.0`. Run it before the release. The folder of a published release stays for good, since the tests here show that
 * every later build reads it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServers } from '../support/test-servers.ts';
import { makeFolder, writeDeployment, writeSavedDeliveries } from './writers/files.ts';
import { quarantineRecords, queueInboxMessages, storeInboxRecords } from './writers/inboxes.ts';
import {
  onceRecords,
  orderEventRecords,
  orderRecords,
  otpRecords,
  rotationTexts,
} from './writers/records.ts';
import { postgresTable, redisEntries, writeSqliteStore } from './writers/stores.ts';

const [, , release = ''] = process.argv;
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error('Name the release, such as 0.3.0.');
const folder = join(import.meta.dirname, 'written-by', release);
rmSync(folder, { recursive: true, force: true });
makeFolder(folder);
const scratch = mkdtempSync(join(tmpdir(), 'formats-'));
const servers = await startTestServers();
const { redis, postgres } = servers;
if (!('url' in redis) || !('url' in postgres)) throw new Error('This needs Redis and PostgreSQL.');

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 1)}\n`);
}

try {
  write('store-inbox.json', await storeInboxRecords());
  write('queue-inbox.json', await queueInboxMessages());
  write('quarantine.json', await quarantineRecords());
  await writeSqliteStore(folder, scratch);
  write('redis-store.json', await redisEntries(redis.url));
  write('postgres-store.json', await postgresTable(postgres.url));
  write('orders.json', await orderRecords());
  write('order-events.json', await orderEventRecords());
  write('otp.json', await otpRecords());
  write('once.json', await onceRecords());
  for (const [step, text] of Object.entries(await rotationTexts()))
    writeFileSync(join(makeFolder(join(folder, 'keys')), `${step}.json`), text);
  await writeSavedDeliveries(folder);
  await writeDeployment(folder);
} finally {
  await servers.stop();
  rmSync(scratch, { recursive: true, force: true });
}
process.exit();
