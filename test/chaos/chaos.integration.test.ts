import { describe, expect, it } from 'vitest';
import { times } from '../support/repeat.ts';
import { type Figures, runScenario } from './run-scenario.ts';

/** The short version; `npm run chaos` plays a thousand scenarios, with a seed of your choice. */
describe('client, order journal, receiver and codes against a hostile service', () => {
  it('end with books that agree', async () => {
    const scenarios = times(10, 40);
    const sums = new Map<string, number>();
    for (let number = 0; number < scenarios; number++) {
      const { breaches, trace, figures } = await runScenario(`short/${number}`);
      expect(breaches, `npm run chaos -- --seed short --only ${number}\n${trace}`).toEqual([]);
      for (const [name, count] of Object.entries(figures)) sums.set(name, (sums.get(name) ?? 0) + count);
    }
    // Scenarios that come across nothing prove nothing.
    const least: Partial<Figures> = {
      ...{ orders: 100, byEvent: 15, unknown: 5, contradictions: 1, requestFaults: 40, eventFaults: 200 },
      ...{ dropped: 10, restarts: 20, deaths: 10, rotations: 10, codes: 50, codesAccepted: 10 },
    };
    for (const [name, count] of Object.entries(least))
      expect(sums.get(name), name).toBeGreaterThanOrEqual(Math.floor((count * scenarios) / 40));
  }, 120_000);
});
