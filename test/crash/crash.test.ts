import { describe, it } from 'vitest';
import { engines, postgresUrl, redisAddress } from '../inbox/engines.ts';
import { runCrash } from './run-crash.ts';

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
});
