import { describe, expect, it } from 'vitest';
import {
  type Boss,
  insertJobs,
  type NewBossJob,
  queryJobs,
  type WriteSql,
} from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { rejected } from '../../support/refusal.ts';

const job = (id: string): NewBossJob => ({ id, data: {}, retentionSeconds: 1 });

/** A pg-boss that has some jobs already, and whose queue refuses others. */
function bossWith({ known = [], refused = [] }: { known?: string[]; refused?: string[] } = {}) {
  const inserted: string[][] = [];
  const queries: unknown[][] = [];
  const boss: Pick<Boss, 'insert'> = {
    async insert(_, jobs, { returnId }) {
      expect(returnId).toBe(true);
      const ids = jobs.map(({ id }) => id);
      inserted.push(ids);
      return ids.filter((id) => !known.includes(id) && !refused.includes(id));
    },
  };
  const query = async (queue: string, write: WriteSql, ...values: unknown[]) => {
    queries.push([queue, write('jobs'), ...values]);
    return known.map((id) => ({ id }));
  };
  return {
    inserted,
    queries,
    insert: (ids: string[]) => insertJobs({ boss: boss as Boss, query }, 'inbox', ids.map(job)),
  };
}

describe('jobs that are inserted into pg-boss together', () => {
  it('are stored in the order of their ids, and answered in their own', async () => {
    const { insert, inserted, queries } = bossWith();
    expect(await insert(['c', 'a', 'b'])).toEqual(['stored', 'stored', 'stored']);
    expect(inserted).toEqual([['a', 'b', 'c']]);
    expect(queries).toEqual([]);
  });

  it('are stored once for each id, the first of them', async () => {
    const { insert, inserted } = bossWith();
    expect(await insert(['b', 'a', 'b'])).toEqual(['stored', 'stored', 'duplicate']);
    expect(inserted).toEqual([['a', 'b']]);
  });

  it('are duplicates only if their ids are there', async () => {
    const { insert, queries } = bossWith({ known: ['a'], refused: ['b'] });
    const [known, refused, stored] = await insert(['a', 'b', 'c']);
    expect([known, stored]).toEqual(['duplicate', 'stored']);
    expect(refused).toBeInstanceOf(Error);
    expect(String(refused)).toContain('pg-boss did not store a job in inbox: was the queue deleted');
    const byId = 'SELECT id FROM jobs WHERE name = $1 AND id = ANY($2::uuid[])';
    expect(queries).toEqual([['inbox', byId, ['a', 'b']]]);
  });
});

describe('the table of a queue', () => {
  /** A pg-boss whose own search is this SQL, and which SQL it was given. */
  function open(sql: string) {
    const asked: string[] = [];
    const executed: unknown[][] = [];
    const boss: Pick<Boss, 'findJobs' | 'getDb'> = {
      async findJobs(name, { db }) {
        asked.push(name);
        expect(await db.executeSql(sql)).toEqual({ rows: [] });
        return [];
      },
      getDb: () => ({
        async executeSql(...given) {
          executed.push(given);
          return { rows: [{ id: 'a' }] };
        },
      }),
    };
    return { ...queryJobs(boss as Boss), asked, executed };
  }
  const all = (table: string) => `SELECT * FROM ${table}`;

  it.each(['pgboss.job', 'my_schema.j12', '"odd schema"."table-1"'])(
    'is read from the search of pg-boss: %s',
    async (table) => {
      const { query, executed } = open(`SELECT id\n FROM  ${table}\n  WHERE name = $1`);
      expect(await query('inbox', all, 'value')).toEqual([{ id: 'a' }]);
      expect(executed).toEqual([[`SELECT * FROM ${table}`, ['inbox', 'value']]]);
    },
  );

  it('is looked for once for each queue, and again once it is to be forgotten', async () => {
    const { query, asked, forgetTables } = open('SELECT 1 FROM pgboss.job WHERE true');
    for (const queue of ['inbox', 'inbox', 'inbox_dead']) await query(queue, all);
    expect(asked).toEqual(['inbox', 'inbox_dead']);
    forgetTables();
    await query('inbox', all);
    expect(asked).toEqual(['inbox', 'inbox_dead', 'inbox']);
  });

  it('is said to be unknown when the search has another form', async () => {
    const { query, executed } = open('SELECT id FROM job');
    expect(String(await rejected(query('inbox', all)))).toContain(
      'does not know where this version of pg-boss',
    );
    expect(executed).toEqual([]);
  });
});
