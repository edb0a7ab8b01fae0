import { describe, expect, it } from 'vitest';
import type { Boss, NewBossJob } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { pgBossQuarantine } from '../../../src/inbox/pg-boss/pg-boss-quarantine.ts';

const body = {
  digest: `${'ab'.repeat(16)}${'cd'.repeat(16)}`,
  body: '{"a":"ü"}',
  partners: 'P',
  share: '07',
};
const id = 'abababab-abab-abab-abab-abababababab';
const job = '11111111-1111-1111-1111-111111111111';
const empty = { number: '0', bytes: '0', shareNumber: '0', shareBytes: '0' };

/** A quarantine in a pg-boss whose database answers each kind of search with these rows. */
function open(rows: { tally?: object; expired?: object[]; oldest?: object[]; known?: object[] } = {}) {
  const calls: unknown[][] = [];
  const lookups: string[] = [];
  const searches: { sql: string; values: readonly unknown[] }[] = [];
  let isAway = false;
  const boss: Pick<Boss, 'createQueue' | 'insert' | 'deleteJob' | 'findJobs' | 'getDb'> = {
    createQueue: async (...given) => void calls.push(['createQueue', ...given]),
    async insert(name, jobs: NewBossJob[]) {
      calls.push(['insert', name, jobs]);
      return rows.known === undefined ? jobs.map((one) => one.id) : [];
    },
    deleteJob: async (...given) => void calls.push(['deleteJob', ...given]),
    async findJobs(name, { db }) {
      lookups.push(name);
      await db.executeSql('SELECT id FROM pgboss.job WHERE name = $1');
      return [];
    },
    getDb: () => ({
      async executeSql(sql, values = []) {
        if (isAway) throw new Error('away');
        searches.push({ sql, values });
        if (sql.includes('count(*)')) return { rows: [rows.tally ?? empty] };
        if (sql.includes('<= now()')) return { rows: rows.expired ?? [] };
        return { rows: (sql.includes('ORDER BY') ? rows.oldest : rows.known) ?? [] };
      },
    }),
  };
  const options = { queue: 'inbox', quarantineMs: 1_500, maxQuarantined: 2 };
  return {
    quarantine: pgBossQuarantine({ boss: boss as Boss, ...options }),
    calls,
    lookups,
    searches,
    goAway: (away: boolean) => {
      isAway = away;
    },
  };
}

describe('the quarantine in pg-boss', () => {
  it('keeps a body as a job that no worker takes for a delivery, and that expires', async () => {
    const { quarantine, calls, searches } = open();
    expect(await quarantine.keep(body)).toBe('kept');
    const data = { unverified: body.body, partners: 'P' };
    expect(calls).toEqual([
      ['createQueue', 'inbox_unverified', { retentionSeconds: 2 }],
      ['insert', 'inbox_unverified', [{ id, data, retentionSeconds: 2, groupId: '07' }]],
    ]);
    expect(searches.map(({ values }) => values)).toEqual([['inbox_unverified', 1_500, '07']]);
  });

  it('knows a body that is kept already, and says when pg-boss has stored none', async () => {
    expect(await open({ known: [{ id }] }).quarantine.keep(body)).toBe('known');
    await expect(open({ known: [] }).quarantine.keep(body)).rejects.toThrow('did not store a job');
  });

  it.each([
    ['all of it', { ...empty, number: '2' }],
    ['the bytes of all of it', { ...empty, bytes: '8183' }],
    ['the half of its share', { ...empty, shareNumber: '1' }],
    ['the bytes of that half', { ...empty, shareBytes: '4087' }],
  ])('keeps nothing more when %s is full', async (_, tally) => {
    const { quarantine, calls } = open({ tally });
    expect(await quarantine.keep(body)).toBe('full');
    expect(calls.map(([name]) => name)).toEqual(['createQueue']);
  });

  it('has room for as many bytes as the body has in UTF-8', async () => {
    const tally = { ...empty, bytes: '4086', shareBytes: '4086' };
    expect(await open({ tally }).quarantine.keep(body)).toBe('kept');
  });

  it('lists bodies after the last one, and removes those that expired', async () => {
    const data = { unverified: 'body', partners: 'P' };
    const { quarantine, calls, searches } = open({
      expired: [{ id: 'old' }],
      oldest: [{ id: `2026-01-01/${job}`, data }],
    });
    const page = await quarantine.list({ limit: 7 });
    expect(page).toEqual([{ id: `2026-01-01/${job}`, body: 'body', partners: 'P' }]);
    await quarantine.list({ after: page[0]?.id, limit: 1_000 });
    const lists = searches.filter(({ sql }) => sql.includes('ORDER BY'));
    expect(lists.map(({ values }) => values.slice(1))).toEqual([
      [1_500, '-infinity', '00000000-0000-0000-0000-000000000000'],
      [1_500, '2026-01-01', job],
    ]);
    expect(lists.map(({ sql }) => /LIMIT \d+/.exec(sql)?.[0])).toEqual(['LIMIT 7', 'LIMIT 300']);
    expect(calls.slice(1)).toEqual([
      ['deleteJob', 'inbox_unverified', ['old']],
      ['deleteJob', 'inbox_unverified', ['old']],
    ]);
  });

  it('removes bodies by the ids of their jobs, and counts the rest', async () => {
    const { quarantine, calls } = open({ tally: { number: '5' } });
    await quarantine.remove([`2026-01-01/${job}`]);
    expect(await quarantine.count()).toBe(5);
    await quarantine.list({ limit: 1 });
    expect(calls).toEqual([
      ['createQueue', 'inbox_unverified', { retentionSeconds: 2 }],
      ['deleteJob', 'inbox_unverified', [job]],
    ]);
  });

  it('makes its queue again after a failure, since it may be gone, and looks for its table', async () => {
    const { quarantine, calls, lookups, goAway } = open();
    await quarantine.count();
    goAway(true);
    await expect(quarantine.count()).rejects.toThrow('away');
    goAway(false);
    await quarantine.count();
    await quarantine.count();
    expect(calls.map(([name]) => name)).toEqual(['createQueue', 'createQueue']);
    expect(lookups).toEqual(['inbox_unverified', 'inbox_unverified']);
  });
});
