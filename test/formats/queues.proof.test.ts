import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { HandlingOptions } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import { removeBoss, startBoss } from '../inbox/engines.ts';
import { describeWith, redisUrl, run } from '../store/servers.ts';
import { rejected } from '../support/refusal.ts';
import { loadRedis, type RedisEntry } from './dumps.ts';
import { allFixtures } from './fixtures.ts';
import { eventOf, receiverOn, until } from './subjects.ts';

/** What a queue of an earlier build holds, read in the order in which a process meets it. */
function itReads(
  open: (options: HandlingOptions) => ManagedInbox,
  /** The data of the jobs that hold a delivery. */
  stored: () => Promise<readonly unknown[]>,
  /** Writes the version of their form into them, and has them due. */
  stamp: (version: number) => Promise<unknown>,
): void {
  it('leaves what a newer version has stored as it is, and handles the rest', async () => {
    await stamp(2);
    const before = await stored();
    const errors: unknown[] = [];
    const inbox = open({ onStoreError: (error) => errors.push(error) });
    const { webhooks, handled } = receiverOn({ inbox });
    await webhooks.receive(eventOf('fresh'));
    await until(() => handled.length === 1 && errors.length === 2);
    expect(errors).toMatchObject([{ code: 'newer_format' }, { code: 'newer_format' }]);
    expect(await inbox.deadLetters()).toEqual([]);
    for (const { digest, reason } of before.map(Object)) {
      if (reason === undefined) continue;
      for (const act of [inbox.deadLetter, inbox.discard])
        expect(await rejected(act(digest))).toMatchObject({ cause: { code: 'newer_format' } });
    }
    await inbox.stop();
    expect(handled).toEqual(['fresh']);
    expect(new Set(await stored())).toEqual(new Set(before));
    await stamp(1);
  });

  it('counts, lists the dead letters and knows every repetition', async () => {
    const inbox = open({ role: 'receiver' });
    expect(await inbox.counts()).toEqual({ open: 2, dead: 2 });
    const dead = await inbox.deadLetters({ withBody: true });
    expect(dead.map(({ body, attempts, reason }) => [body, attempts, reason])).toEqual([
      [eventOf('dead-alone'), 1, 'Error: no such order: dead-alone'],
      [eventOf('dead'), 1, 'Error: no such order: dead'],
    ]);
    const { webhooks } = receiverOn({ inbox });
    for (const id of ['handled', 'dead', 'dead-alone', 'failed', 'waiting'])
      expect(await webhooks.receive(eventOf(id)), id).toMatchObject({ kind: 'duplicate' });
    await inbox.stop();
  });

  it('keeps what a newer version has written when a delivery becomes a dead letter and is replayed', async () => {
    const inbox = open({ maxAttempts: 2 });
    const { contexts, reports } = receiverOn({ inbox }, () => Promise.reject(new Error('no such order')));
    await until(async () => (await inbox.counts()).dead === 4);
    await inbox.stop();
    const digest = contexts.get('failed')?.digest;
    expect(reports.find((report) => report.digest === digest)).toMatchObject({ attempt: 2 });
    const storing = open({ role: 'receiver' });
    for (let replayed = 0; replayed < 2; replayed++) {
      const data = await stored();
      expect(data).toHaveLength(4);
      for (const each of data) expect(each).toMatchObject({ ...newer, key: newer });
      for (const letter of await storing.deadLetters()) await storing.replay(letter.digest);
    }
    await storing.stop();
  });

  it('handles what is stored, and what was replayed', async () => {
    const inbox = open({});
    const { handled, contexts } = receiverOn({ inbox });
    await until(() => handled.length === 4);
    await until(async () => Object.values(await inbox.counts()).every((count) => count === 0));
    await inbox.stop();
    expect(handled.toSorted()).toEqual(['dead', 'dead-alone', 'failed', 'waiting']);
    expect(contexts.get('waiting')?.key).toMatchObject({ partnerId: 'P-1', merchant: 'ngn' });
  });
}

/** Written beside the rest by a newer version. */
const newer = { written_by_a_newer_version: { of: ['any', { form: true }] } };

function withNewer(data: unknown): object {
  return { ...Object(data), ...newer, key: { ...Object(data).key, ...newer } };
}

for (const { commit, json } of allFixtures) {
  describeWith('redis', `a queue of bullmqInbox, written by ${commit}`, () => {
    const prefix = `${run}_formats_${commit}`;
    const connection = { url: redisUrl };
    const redis = new Redis(redisUrl, { lazyConnect: true });
    let queue: Queue;

    beforeAll(async () => {
      queue = new Queue('inbox', { connection, prefix });
      await queue.waitUntilReady();
      const entries = json<RedisEntry[]>('bullmq.json').filter(({ key }) => key !== 'meta');
      await loadRedis(redis, `${prefix}:inbox:`, entries);
      for (const job of await queue.getJobs(['wait', 'delayed', 'failed']))
        await job.updateData(withNewer(job.data));
      await endDelays();
    });
    async function endDelays(): Promise<void> {
      for (const id of await redis.zrange(`${prefix}:inbox:delayed`, '0', '-1'))
        await redis.zadd(`${prefix}:inbox:delayed`, 'XX', (Date.now() - 1_000) * 4096, id);
    }
    afterAll(async () => {
      await queue.obliterate({ force: true });
      await queue.close();
      const keys = await redis.keys(`${prefix}:*`);
      if (keys.length > 0) await redis.del(...keys);
      await redis.quit();
    });

    itReads(
      (options) =>
        bullmqInbox({
          queue,
          createWorker: (name, processor, workerOptions) =>
            new Worker(name, processor, { ...workerOptions, connection, prefix }),
          ...options,
        }),
      async () => (await queue.getJobs(['wait', 'delayed', 'failed'])).map(({ data }) => data),
      async (version) => {
        for (const job of await queue.getJobs(['wait', 'delayed', 'failed']))
          await job.updateData({ ...job.data, version });
        await endDelays();
      },
    );
  });

  describeWith('postgres', `a queue of pgBossInbox, written by ${commit}`, () => {
    const schema = `${run}_formats_${commit}`;
    let boss: Awaited<ReturnType<typeof startBoss>>;

    beforeAll(async () => {
      boss = await startBoss(schema);
      const making = pgBossInbox({ boss, role: 'receiver' });
      await making.counts();
      await making.stop();
      const written = json<Record<string, unknown>[]>('pg-boss.json');
      const rows = written.map((row) =>
        row.state === 'completed' ? row : { ...row, data: withNewer(row.data) },
      );
      // As if they had been written an hour ago.
      const writtenAt = Math.max(...rows.map(({ created_on }) => Date.parse(String(created_on))));
      const shift = Date.now() - 3_600_000 - writtenAt;
      const shifted = rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, moved(value, shift)])),
      );
      const columns = Object.keys(rows[0] ?? {}).map((name) => `"${name}"`);
      await boss
        .getDb()
        .executeSql(
          `INSERT INTO ${schema}.job (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${schema}.job, $1::jsonb)`,
          [JSON.stringify(shifted)],
        );
    });
    afterAll(() => removeBoss(boss, schema));

    itReads(
      (options) => pgBossInbox({ boss, pollMs: 50, ...options }),
      async () => {
        const open = `SELECT data FROM ${schema}.job WHERE state < 'active'`;
        return (await boss.getDb().executeSql(open)).rows.map(({ data }) => data);
      },
      async (version) => {
        const stamp = `UPDATE ${schema}.job SET data = data || $1::jsonb, start_after = now() WHERE state < 'active'`;
        await boss.getDb().executeSql(stamp, [JSON.stringify({ version })]);
      },
    );
  });
}

function moved(value: unknown, ms: number): unknown {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isTime ? new Date(Date.parse(value) + ms).toISOString() : value;
}
