import {
  type BullJob,
  type BullQueue,
  bullmqInbox,
  type ManagedInbox,
} from 'partner-exchange-sdk/inbox/bullmq';
import { type Boss, pgBossInbox } from 'partner-exchange-sdk/inbox/pg-boss';

/** An inbox that only stores, in a queue that keeps its jobs by their ids. */
export function bullmqInMemory(): { inbox: ManagedInbox; jobs: Map<string, object> } {
  const jobs = new Map<string, object>();
  const queue: BullQueue = {
    name: 'inbox',
    async add(_name, data, { jobId }) {
      if (!jobs.has(jobId)) jobs.set(jobId, data);
    },
    // Only what is read of it.
    getJob: async (id) => (jobs.has(id) ? ({ data: jobs.get(id) } as BullJob) : undefined),
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
