import { describe, it } from 'vitest';
import { engines, postgresUrl, redisAddress } from '../inbox/engines.ts';
import { missingForPostgres, missingForRedis } from '../support/private-server.ts';
import { runBulkCrash } from './run-bulk-crash.ts';
import { runCrash } from './run-crash.ts';
import { runStoreCrash, storeEngines } from './run-store-crash.ts';

/** The short version; `npm run crash` does hundreds of rounds, and kills the engines too. */
describe('processes that are killed at any time', () => {
  const machine = { redis: redisAddress, postgresUrl };
  for (const engine of ['sqlite', 'bullmq', 'pg-boss'] as const) {
    it.concurrent(`lose no acknowledged event, repeat no guarded effect, and make dead letters only of what kills them: ${engine}`, async ({
      expect,
      skip,
    }) => {
      const missing = await engines.find(({ name }) => name === engine)?.absent();
      if (missing !== undefined) {
        if (process.env.CI) expect.fail(`In CI every engine is tested, and there is no ${missing}.`);
        skip(`there is no ${missing}`);
      }
      const figures = await runCrash({ engine, rounds: 15, events: 8, poisonEvery: 15, machine });
      console.log(figures);
      expect(figures).toMatchObject({ eventsAcknowledged: 120, eventsHandled: 120, lost: 0, doubled: 0 });
      expect(figures).toMatchObject({ poisonous: 1, poisonousDead: 1, othersDead: 0 });
      expect(figures.processesKilled).toBe(15);
    }, 240_000);
  }

  for (const engine of storeEngines) {
    it.concurrent(`lose no acknowledged change of a record store, and make none by halves or twice: ${engine}`, async ({
      expect,
      skip,
    }) => {
      const missing = absentFor(engine);
      if (missing !== undefined) {
        if (process.env.CI) expect.fail(`In CI every engine is tested, and there is no ${missing}.`);
        skip(`there is no ${missing}`);
      }
      const figures = await runStoreCrash({ engine, rounds: 6, restartEvery: 3 });
      console.log(figures);
      expect(figures).toMatchObject({ lost: 0, wrongBalances: 0, sumOff: 0, processesKilled: 6 });
      expect(figures.found).toBeGreaterThanOrEqual(figures.acknowledged);
    }, 240_000);
  }

  for (const engine of storeEngines) {
    it.concurrent(`send no number of a campaign two messages, and report what the service saw: ${engine}`, async ({
      expect,
      skip,
    }) => {
      const missing = absentFor(engine);
      if (missing !== undefined) {
        if (process.env.CI) expect.fail(`In CI every engine is tested, and there is no ${missing}.`);
        skip(`there is no ${missing}`);
      }
      const figures = await runBulkCrash({ engine, rounds: 5 });
      console.log(figures);
      expect(figures).toMatchObject({ twice: 0, wrongStates: 0, processesKilled: 5 });
      expect(figures.sent).toBeGreaterThan(0);
    }, 240_000);
  }
});

function absentFor(engine: (typeof storeEngines)[number]): string | undefined {
  switch (engine) {
    case 'store-redis':
      return missingForRedis();
    case 'store-postgres':
      return missingForPostgres();
    case 'store-sqlite':
      return undefined;
  }
}
