import { describe, it } from 'vitest';
import { missingServers, postgresUrl, redisAddress } from '../inbox/engines.ts';
import { missingForNats, missingForPostgres, missingForRedis } from '../support/private-server.ts';
import { isThorough, times } from '../support/repeat.ts';
import { crashEngines, isQueue, serverOf } from './crash-engine.ts';
import { runCrash } from './run-crash.ts';
import { runStoreCrash, storeEngines } from './run-store-crash.ts';

/** The short version; `npm run prove -- crash` does hundreds of rounds, and kills the engines too. */
describe('processes that are killed at any time', () => {
  const machine = { redis: redisAddress, postgresUrl };
  for (const engine of crashEngines) {
    it.concurrent(`lose no acknowledged event, repeat no guarded effect, act on none with another address, and find each that contradicts its order: ${engine}`, async ({
      expect,
      skip,
    }) => {
      const server = serverOf(engine);
      skipWithout(server ? missingServers[server] : isQueue(engine) ? missingForNats() : undefined, skip);
      // A poisonous event ends nine processes one after the other; for queues test/inbox/queue shows it.
      const withPoison = engine === 'sqlite' || (isThorough && /^inbox-(?:redis|postgres)$/.test(engine));
      const [rounds, poisonEvery] = withPoison ? [times(3, 15), 15] : [times(2, 5), 1];
      const figures = await runCrash({ engine, rounds, events: 8, poisonEvery, machine });
      console.log(figures);
      expect(figures).toMatchObject({ eventsAcknowledged: rounds * 8, lost: 0, doubled: 0 });
      const poisonous = poisonEvery === 1 ? 0 : 1;
      expect(figures).toMatchObject({ poisonous, poisonousDead: poisonous, othersDead: 0 });
      expect(figures).toMatchObject({ eventsHandled: rounds * 8, processesKilled: rounds });
      expect(figures).toMatchObject({ contradicting: rounds * 2, contradictingFound: rounds * 2 });
      expect(figures).toMatchObject({ falselyFound: 0, actedOnElsewhere: 0 });
    }, 240_000);
  }

  for (const engine of storeEngines) {
    it.concurrent(`lose no acknowledged change of a record store, make none by halves or twice, and have each effect once: ${engine}`, async ({
      expect,
      skip,
    }) => {
      skipWithout(absentFor(engine), skip);
      const rounds = times(2, 6);
      const figures = await runStoreCrash({ engine, rounds, restartEvery: times(2, 3) });
      console.log(figures);
      expect(figures).toMatchObject({ lost: 0, wrongBalances: 0, sumOff: 0, processesKilled: rounds });
      expect(figures).toMatchObject({ effectsTwice: 0, effectsLost: 0 });
      expect(figures.effects).toBeGreaterThan(0);
      expect(figures.found).toBeGreaterThanOrEqual(figures.acknowledged);
    }, 240_000);
  }
});

function skipWithout(missing: string | undefined, skip: (note: string) => void): void {
  if (missing === undefined) return;
  if (process.env.CI) throw new Error(`In CI every engine is tested, and there is no ${missing}.`);
  skip(`there is no ${missing}`);
}

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
