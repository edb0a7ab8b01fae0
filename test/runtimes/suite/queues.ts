import { type BullQueue, bullmqInbox, type ManagedInbox } from 'partner-exchange-sdk/inbox/bullmq';
import { type Boss, pgBossInbox } from 'partner-exchange-sdk/inbox/pg-boss';

/** An inbox that only stores, in a queue that keeps no more than the ids of its jobs. */
export function bullmqInMemory(): { inbox: ManagedInbox; jobs: Set<string> } {
  const jobs = new Set<string>();
  const queue: BullQueue = {
    name: 'inbox',
    getJobState: async (id) => (jobs.has(id) ? 'waiting' : 'unknown'),
    add: async (_name, _data, { jobId }) => jobs.add(jobId),
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
    async send(_name, _data, { id }) {
      if (jobs.has(id)) return null;
      jobs.add(id);
      return id;
    },
    fetch: async () => [],
    complete: async () => {},
    fail: async () => {},
    async findJobs(name, { id, db }) {
      // Whoever brings a database wants what it makes of the search: here, a count.
      if (db !== undefined) return [{ number: name.endsWith('_dead') ? 0 : jobs.size }];
      return id !== undefined && jobs.has(id) ? [{ id }] : [];
    },
    deleteJob: async () => {},
    getDb: () => ({ executeSql: async () => ({ rows: [] }) }),
  };
  return { inbox: pgBossInbox({ boss, role: 'receiver' }), jobs };
}
