import { randomBytes } from 'node:crypto';
import type { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, it } from 'vitest';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { type PgBossInboxOptions, pgBossInbox } from '../../../src/inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { toLease } from '../../../src/inbox/pg-boss/pg-boss-lease.ts';
import { pgBossStore } from '../../../src/inbox/pg-boss/pg-boss-store.ts';
import { quick, readHandling } from '../contract.ts';
import { removeBoss, startBoss } from '../engines.ts';

/** Has what a worker left be found soon: the tests have workers die, and those of the dead still fetch. */
const shortLease = { timeLimitMs: 1_000 } as const;

export type PgBossTest = ReturnType<typeof testWith>;

/** A pg-boss for the tests of a file. They run side by side, each with a queue of its own. */
export function pgBossTests() {
  const schema = `pex_boss_${randomBytes(5).toString('hex')}`;
  let boss: PgBoss;
  let opened = 0;
  beforeAll(async () => {
    boss = await startBoss(schema);
  });
  afterAll(() => removeBoss(boss, schema));
  return (name: string, run: (given: PgBossTest) => Promise<void>): void => {
    it.concurrent(name, async () => {
      const given = testWith({ boss, schema, queue: `inbox${opened++}` });
      await run(given).finally(given.stop);
    });
  };
}

function testWith({ boss, schema, queue }: { boss: PgBoss; schema: string; queue: string }) {
  const inboxes: ManagedInbox[] = [];
  return {
    boss,
    schema,
    queue,

    async stop(): Promise<void> {
      await Promise.all(inboxes.map((inbox) => inbox.stop({ timeoutMs: 0 })));
    },

    open(options: Partial<PgBossInboxOptions> = {}): ManagedInbox {
      const inbox = pgBossInbox({ boss, queue, ...quick, ...shortLease, pollMs: 50, ...options });
      inboxes.push(inbox);
      return inbox;
    },

    /** The same pg-boss, with one method of ours. */
    withOwn<Method extends keyof Boss>(method: Method, own: Boss[Method]): Boss {
      return new Proxy<Boss>(boss, {
        get(target, name) {
          if (name === method) return own;
          // Methods of a class with private members.
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },

    /** What a worker does with a delivery that lost its lease among others. */
    async isolate(): Promise<void> {
      const store = pgBossStore({ boss, queue, ...readHandling({ ...quick, ...shortLease }) });
      const [lost] = (await store.lease(1)).map(toLease);
      if (lost === undefined || !(await store.isolate(lost))) throw new Error('Nothing was set apart.');
    },

    /** What pg-boss would not do at once: time that passes. */
    async changeJobs(sql: string, state?: 'active' | 'retry'): Promise<void> {
      const which = state === undefined ? '' : `AND state = '${state}'`;
      await boss.getDb().executeSql(`UPDATE ${schema}.job SET ${sql} WHERE name = $1 ${which}`, [queue]);
    },
  };
}
