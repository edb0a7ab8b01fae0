import { type BullQueue, bullmqInbox, type ManagedInbox } from 'partner-exchange-sdk/inbox/bullmq';
import { type Boss, pgBossInbox } from 'partner-exchange-sdk/inbox/pg-boss';
import { sleep } from './fixtures.ts';

/** An inbox that only stores, in a queue that keeps its jobs by their deduplication ids. */
export function bullmqInMemory(): { inbox: ManagedInbox; jobs: Map<string, object> } {
  const jobs = new Map<string, { readonly id: string; readonly data: object }>();
  const queue: BullQueue = {
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
  const boss: Boss = {
    createQueue: async () => {},
    // As a database does, it takes a while.
    async insert(_name, added) {
      await sleep(50);
      const fresh = added.map(({ id }) => id).filter((id) => !jobs.has(id));
      for (const id of fresh) jobs.add(id);
      return fresh;
    },
    fetch: async () => [],
    complete: async () => {},
    fail: async () => {},
    // The inbox narrows every search by SQL of its own, which ends with the ids that it looks for.
    async findJobs(name, { db }) {
      return (await db?.executeSql('', [name]))?.rows as object[];
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
