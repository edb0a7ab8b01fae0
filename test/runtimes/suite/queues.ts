import { type BullmqInboxOptions, bullmqInbox, type ManagedInbox } from 'partner-exchange-sdk/inbox/bullmq';
import { type PgBossInboxOptions, pgBossInbox } from 'partner-exchange-sdk/inbox/pg-boss';
import { sleep } from './fixtures.ts';

/** An inbox that only stores, in a queue that keeps its jobs by their deduplication ids. */
export function bullmqInMemory(): { inbox: ManagedInbox; jobs: Map<string, object> } {
  const jobs = new Map<string, { readonly id: string; readonly data: object }>();
  const queue: BullmqInboxOptions['queue'] = {
    name: 'inbox',
    async add(_name, data, { jobId = '', deduplication }) {
      const job = jobs.get(deduplication.id) ?? { id: jobId, data };
      jobs.set(deduplication.id, job);
      return job;
    },
    getDeduplicationJobId: async () => null,
    getJob: async () => undefined,
    getJobs: async () => [],
    getJobCounts: async () => ({ waiting: jobs.size, failed: 0 }),
  };
  return { inbox: bullmqInbox({ queue, role: 'receiver' }), jobs };
}

/** The same for pg-boss. */
export function pgBossInMemory(): { inbox: ManagedInbox; jobs: Set<string> } {
  const jobs = new Set<string>();
  const boss: PgBossInboxOptions['boss'] = {
    createQueue: async () => {},
    // As a database does, it takes a while.
    async insert(_name, added) {
      // real time: a database takes a while.
      await sleep(50);
      const fresh = added.map(({ id }) => id).filter((id) => !jobs.has(id));
      for (const id of fresh) jobs.add(id);
      return fresh;
    },
    fetch: async () => [],
    complete: async () => {},
    fail: async () => {},
    // The inbox reads from this search where the jobs are, and asks there for ids and counts.
    async findJobs(name, { db }) {
      await db.executeSql('SELECT * FROM pgboss.job WHERE name = $1', [name]);
      return [];
    },
    deleteJob: async () => {},
    getDb: () => ({
      async executeSql(_text, values = []) {
        const [name, ids] = values;
        if (Array.isArray(ids)) return { rows: ids.filter((id) => jobs.has(id)).map((id) => ({ id })) };
        return { rows: [{ number: String(name).endsWith('_dead') ? 0 : jobs.size }] };
      },
    }),
  };
  return { inbox: pgBossInbox({ boss, role: 'receiver' }), jobs };
}
