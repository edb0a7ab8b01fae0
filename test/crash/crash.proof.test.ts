import { describe, it } from 'vitest';
import { times } from '../support/repeat.ts';
import { inboxEngines, missingFor, storeEngines } from './crash-engine.ts';
import { runCrash } from './run-crash.ts';
import { runStoreCrash } from './run-store-crash.ts';

/** A hang, not a speed. */
const timeout = 600_000;

/** The short version; `npm run prove -- crash` does hundreds of rounds. */
describe('processes that are killed at any time', () => {
  it.for(inboxEngines)(
    'lose no acknowledged event, repeat no guarded effect, act on none with another address, and find each that contradicts its order: %s',
    { timeout },
    async (engine, { expect, skip }) => {
      skipWithout(missingFor(engine), skip);
      const [rounds, events] = [times(2, 15), 8];
      const figures = await runCrash({ engine, rounds, events, poisonEvery: 15, restartEvery: times(2, 5) });
      console.log(figures);
      expect(figures).toMatchObject({ eventsAcknowledged: rounds * events, lost: 0, doubled: 0 });
      expect(figures).toMatchObject({ poisonous: 1, poisonousDead: 1, othersDead: 0 });
      expect(figures).toMatchObject({ eventsHandled: rounds * events, processesKilled: rounds });
      expect(figures).toMatchObject({ contradicting: rounds * 2, contradictingFound: rounds * 2 });
      expect(figures).toMatchObject({ falselyFound: 0, actedOnElsewhere: 0 });
    },
  );

  it.for(storeEngines)(
    'lose no acknowledged change of a record store, make none by halves or twice, and have each effect once: %s',
    { timeout },
    async (engine, { expect, skip }) => {
      skipWithout(missingFor(engine), skip);
      const rounds = times(2, 6);
      const figures = await runStoreCrash({ engine, rounds, restartEvery: times(2, 3) });
      console.log(figures);
      expect(figures).toMatchObject({ lost: 0, wrongBalances: 0, sumOff: 0, processesKilled: rounds });
      expect(figures).toMatchObject({ effectsTwice: 0, effectsLost: 0 });
      expect(figures.effects).toBeGreaterThan(0);
      expect(figures.found).toBeGreaterThanOrEqual(figures.acknowledged);
    },
  );
});

function skipWithout(missing: string | undefined, skip: (note: string) => void): void {
  if (missing === undefined) return;
  if (process.env.CI) throw new Error(`In CI every engine is tested, and there is no ${missing}.`);
  skip(`there is no ${missing}`);
}
