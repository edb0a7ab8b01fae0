import type { Boss, BossDatabase } from './pg-boss-types.ts';

/**
 * pg-boss's own search of a queue, narrowed in the database: by itself it returns every row.
 *
 * @param narrow makes SQL of that for the jobs, and of the place for a value
 */
export async function searchJobs(
  boss: Boss,
  queue: string,
  narrow: (jobs: string, place: string) => string,
  ...value: unknown[]
): Promise<readonly object[]> {
  const db: BossDatabase = {
    executeSql: (text, values = []) =>
      boss.getDb().executeSql(narrow(`(${text})`, `$${values.length + 1}`), [...values, ...value]),
  };
  return await boss.findJobs(queue, { db });
}
