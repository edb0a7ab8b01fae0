import { membersOf } from '../stored-delivery.ts';
import type { Boss, NewBossJob } from './pg-boss-types.ts';
import { searchJobs } from './search-jobs.ts';

/** What became of a job. The error is of a job that was not stored, and alone in that. */
export type InsertResult = 'stored' | 'duplicate' | Error;

/** Stores jobs in one transaction, and says of each what became of it. A duplicate has the id of an earlier one. */
export async function insertJobs(
  boss: Boss,
  queue: string,
  jobs: readonly NewBossJob[],
): Promise<InsertResult[]> {
  const unique = new Map(jobs.map((job) => [job.id, job]));
  // In the same order everywhere: two processes with the same jobs would wait for each other's rows.
  const sorted = [...unique.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const stored = new Set(await boss.insert(queue, sorted, { returnId: true }));
  const skipped = [...unique.keys()].filter((id) => !stored.has(id));
  const existing = skipped.length === 0 ? [] : await findIds(boss, queue, skipped);
  const known = new Set([...stored, ...existing]);
  return jobs.map(({ id }) => {
    // The first of several with the same id.
    if (stored.delete(id)) return 'stored';
    return known.has(id) ? 'duplicate' : notStored(queue);
  });
}

/** pg-boss also skips what the policy of the queue refuses, and everything if the queue was deleted. */
function notStored(queue: string): Error {
  return new Error(`pg-boss did not store a job in ${queue}: was the queue deleted, or made with a policy?`);
}

/** Those of the ids that are in the queue. */
async function findIds(boss: Boss, queue: string, ids: readonly string[]): Promise<string[]> {
  const byId = (jobs: string, place: string) =>
    `SELECT id FROM ${jobs} AS job WHERE id = ANY(${place}::uuid[])`;
  return (await searchJobs(boss, queue, byId, ids)).map((row) => String(membersOf(row).id));
}
