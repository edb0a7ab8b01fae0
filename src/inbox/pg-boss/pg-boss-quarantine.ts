import { type CountedQuarantine, hasRoom, mostListed } from '../quarantine/quarantine.ts';
import { membersOf } from '../stored-delivery.ts';
import { type Boss, insertJobs, queryJobs, type WriteSql } from './pg-boss-job.ts';
import { isWaiting, toUuid } from './pg-boss-store.ts';

interface BossQuarantineOptions {
  readonly boss: Boss;
  /** The queue of the inbox. */
  readonly queue: string;
  readonly quarantineMs: number;
  readonly maxQuarantined: number;
}

/**
 * The quarantine of a pg-boss inbox: jobs of the queue `<queue>_unverified`, which nobody fetches. The id of a job comes
 * from its body, so each is there once. pg-boss deletes those that expire.
 */
export function pgBossQuarantine({ boss, queue, quarantineMs, maxQuarantined }: BossQuarantineOptions) {
  const name = `${queue}_unverified`;
  const retentionSeconds = Math.ceil(quarantineMs / 1000);
  const { query, forgetTables } = queryJobs(boss);
  const isKept = `${isWaiting} AND created_on > now() - $2 * interval '1 millisecond'`;
  let isReady = false;

  /** Makes the queue if it is missing: before the first call, and when it was deleted. */
  async function withQueue<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      if (!isReady) await boss.createQueue(name, { retentionSeconds });
      isReady = true;
      return await work();
    } catch (error) {
      isReady = false;
      forgetTables();
      throw error;
    }
  }

  const search = (write: WriteSql, ...values: unknown[]) => query(name, write, quarantineMs, ...values);

  async function removeExpired(): Promise<void> {
    const expired = (jobs: string) =>
      `SELECT id FROM ${jobs} WHERE ${isWaiting} AND created_on <= now() - $2 * interval '1 millisecond' LIMIT ${mostListed}`;
    const ids = (await search(expired)).map((row) => String(membersOf(row).id));
    if (ids.length > 0) await boss.deleteJob(name, ids);
  }

  const quarantine: CountedQuarantine = {
    keep: ({ digest, body, partners, share: groupId }) =>
      withQueue(async () => {
        // As PostgreSQL stores them, so that no body is read. Concurrent calls may exceed the room a little.
        const tally = (
          jobs: string,
        ) => `SELECT count(*) AS number, coalesce(sum(pg_column_size(data)), 0) AS bytes,
          count(*) FILTER (WHERE group_id = $3) AS "shareNumber",
          coalesce(sum(pg_column_size(data)) FILTER (WHERE group_id = $3), 0) AS "shareBytes"
          FROM ${jobs} WHERE ${isKept}`;
        const [row] = await search(tally, groupId);
        const { number, bytes, shareNumber, shareBytes } = membersOf(row);
        const all = { number: Number(number), bytes: Number(bytes) };
        const share = { number: Number(shareNumber), bytes: Number(shareBytes) };
        if (!hasRoom(Buffer.byteLength(body), { all, share }, { maxQuarantined })) return 'full';
        // No member of a delivery has this name: no worker takes it for one.
        const data = { unverified: body, partners };
        const job = { id: toUuid(digest), data, retentionSeconds, groupId };
        const [result] = await insertJobs({ boss, query }, name, [job]);
        if (result instanceof Error) throw result;
        return result === 'duplicate' ? 'known' : 'kept';
      }),

    list: ({ after, limit }) =>
      withQueue(async () => {
        await removeExpired();
        const [time = '-infinity', id = toUuid('0'.repeat(64))] = after?.split('/') ?? [];
        const oldest = (jobs: string) => `SELECT created_on::text || '/' || id AS id, data FROM ${jobs}
          WHERE ${isKept} AND (data @? '$.version ? (@ > 1)') IS NOT TRUE AND (created_on, id) > ($3::timestamptz, $4::uuid)
          ORDER BY created_on, id LIMIT ${Math.min(limit, mostListed)}`;
        const rows = (await search(oldest, time, id)).map(membersOf);
        return rows.map((row) => {
          const { unverified, partners } = membersOf(row.data);
          return { id: String(row.id), body: String(unverified), partners: String(partners) };
        });
      }),

    remove: (ids) =>
      withQueue(async () => {
        await boss.deleteJob(
          name,
          ids.map((id) => id.split('/').at(-1) ?? ''),
        );
      }),

    count: () =>
      withQueue(async () => {
        const [row] = await search((jobs) => `SELECT count(*) AS number FROM ${jobs} WHERE ${isKept}`);
        return Number(membersOf(row).number);
      }),
  };
  return quarantine;
}
