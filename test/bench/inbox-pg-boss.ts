import { PgBoss } from 'pg-boss';
import type { Delivery, ManagedInbox } from '../../src/inbox/inbox.ts';
import { pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import { writeDelivery } from '../../src/inbox/stored-delivery.ts';
import {
  eachOf,
  type InboxSection,
  perSecond,
  rateOf,
  shareOf,
  storeNew,
  type TimedWork,
  timeDeliveriesInTurns,
} from './deliveries.ts';
import { median } from './measure.ts';

/** Deliveries under way at a time, as from so many connections, and jobs of a batch without an inbox. */
const inFlight = 32;
const concurrency = 50;
/** Jobs that wait while others are stored. */
const backlogs = [1_000, 200_000];
const sampling = { count: 640, warmup: 4, rounds: 20 };

/** What the inbox acknowledges and handles, beside pg-boss given and asked for as many jobs at once. */
export async function benchPgBossInbox(port: number): Promise<InboxSection> {
  const connectionString = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const boss = new PgBoss({ connectionString, schedule: false, supervise: false });
  boss.on('error', () => {});
  await boss.start();
  const inbox = pgBossInbox({ boss, queue: 'own', role: 'receiver' });
  // Makes its queues.
  await inbox.counts();
  await boss.createQueue('raw');
  const waiting: Record<string, TimedWork> = {};
  for (const backlog of backlogs) {
    const queue = `waiting-${backlog}`;
    const receiver = pgBossInbox({ boss, queue, role: 'receiver' });
    await receiver.counts();
    await fill(boss, queue, backlog);
    waiting[queue] = (deliveries) => eachOf(deliveries, inFlight, (delivery) => storeNew(receiver, delivery));
  }
  const storing = await timeDeliveriesInTurns(
    {
      raw: (deliveries) => insertAll(boss, deliveries, inFlight),
      single: (deliveries) => insertAll(boss, deliveries, 1),
      own: (deliveries) => eachOf(deliveries, inFlight, (delivery) => storeNew(inbox, delivery)),
      ...waiting,
    },
    sampling,
  );
  const timesAmong = (backlog: number) =>
    Object.entries(storing).find(([name]) => name === `waiting-${backlog}`)?.[1] ?? [];
  for (const queue of ['own', 'raw']) await boss.deleteQueuedJobs(queue);
  const handling = await timeDeliveriesInTurns(
    {
      async raw(deliveries) {
        await insertAll(boss, deliveries, deliveries.length);
        return await completeAll(boss, deliveries.length);
      },
      async own(deliveries) {
        await eachOf(deliveries, deliveries.length, (delivery) => storeNew(inbox, delivery));
        const worker = pgBossInbox({ boss, queue: 'own', concurrency });
        return await handleAll(worker, deliveries.length).finally(() => worker.stop());
      },
    },
    sampling,
  );
  await inbox.stop();
  await boss.stop({ graceful: false });
  return {
    rates: [
      { label: `pg-boss insert of ${inFlight} jobs`, value: rateOf(storing.raw, sampling.count) },
      { label: 'pgBossInbox', value: rateOf(storing.own, sampling.count), own: true },
    ],
    byBacklog: [
      {
        label: 'pgBossInbox',
        own: true,
        points: backlogs.map((backlog) => [backlog, (median(timesAmong(backlog)) * 1000) / sampling.count]),
      },
    ],
    title: `pg-boss inbox, PostgreSQL as it is by default, ${inFlight} at a time`,
    findings: [
      perSecond('acknowledged', storing.own, sampling.count),
      {
        what: `acknowledged / boss.insert of ${inFlight} jobs`,
        measured: shareOf(storing.own, storing.raw),
        atLeast: 80,
        unit: '%',
      },
      {
        what: `acknowledged / boss.insert of 1 job, ${inFlight} at a time`,
        measured: shareOf(storing.own, storing.single),
        unit: '%',
      },
      ...backlogs.map((backlog) => ({
        what: `${backlog.toLocaleString('en')} waiting: acknowledged / with few waiting`,
        measured: shareOf(timesAmong(backlog), storing.own),
        atLeast: backlog === 200_000 ? 80 : undefined,
        unit: '%' as const,
      })),
      perSecond(`handled, ${concurrency} at a time`, handling.own, sampling.count),
      {
        what: `handled / boss.fetch and boss.complete of ${concurrency} jobs`,
        measured: shareOf(handling.own, handling.raw),
        unit: '%',
      },
    ],
  };
}

async function fill(boss: PgBoss, queue: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1_000) {
    const jobs = Array.from({ length: Math.min(left, 1_000) }, () => ({ data: { waiting: true } }));
    await boss.insert(queue, jobs);
  }
}

/** In batches of that size: one after the other, or single jobs side by side. */
async function insertAll(boss: PgBoss, deliveries: readonly Delivery[], size: number): Promise<number> {
  const jobs = deliveries.map((delivery) => ({
    ...jobOptions,
    id: idOf(delivery),
    data: writeDelivery(delivery),
  }));
  const begun = performance.now();
  const left = Array.from({ length: Math.ceil(jobs.length / size) }, (_, index) =>
    jobs.slice(index * size, (index + 1) * size),
  ).values();
  const takeTurns = async () => {
    for (const batch of left) await boss.insert('raw', batch);
  };
  await Promise.all(Array.from({ length: size === 1 ? inFlight : 1 }, takeTurns));
  return performance.now() - begun;
}

async function completeAll(boss: PgBoss, count: number): Promise<number> {
  const begun = performance.now();
  for (let left = count; left > 0; ) {
    const jobs = await boss.fetch('raw', { batchSize: concurrency, includeMetadata: true });
    const ids = jobs.map(({ id }) => id);
    await boss.complete('raw', ids, undefined, { includeQueued: true });
    left -= ids.length;
  }
  return performance.now() - begun;
}

async function handleAll(worker: ManagedInbox, count: number): Promise<number> {
  // Finds its queues.
  await worker.counts();
  const { promise, resolve } = Promise.withResolvers<void>();
  let handled = 0;
  const begun = performance.now();
  worker.attach?.({
    hasHandlers: true,
    handle: async () => 'handled',
    report: () => {
      if (++handled === count) resolve();
    },
  });
  await promise;
  return performance.now() - begun;
}

/** Those of the inbox. */
const jobOptions = {
  retryLimit: 1_000_000_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 600,
  expireInSeconds: 65,
  retentionSeconds: 10 * 366 * 24 * 60 * 60,
  deleteAfterSeconds: 30 * 24 * 60 * 60,
  group: { id: 'inbox' },
};

function idOf({ digest }: Delivery): string {
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
