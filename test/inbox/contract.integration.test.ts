import { afterAll, describe, it } from 'vitest';
import { isThorough } from '../support/repeat.ts';
import { describeContract } from './contract.ts';
import { engines } from './engines.ts';

const inContinuousIntegration = process.env.CI === 'true' || process.env.CI === '1';

/** One of each kind of engine; `npm run prove` tries all. */
const everyday = ['memory', 'sqlite', 'redis store', 'postgres store'];

for (const engine of engines.filter(({ name }) => isThorough || everyday.includes(name))) {
  const missing = await engine.absent();
  describe(`the ${engine.name} inbox`, () => {
    if (missing === undefined) {
      // After the hooks of the contract, which come later.
      afterAll(() => engine.remove());
      describeContract(engine);
    } else if (inContinuousIntegration) {
      it('is tested', () => {
        throw new Error(`In CI every engine is tested, and there is no ${missing}.`);
      });
    }
    // The name says what is missing: without Redis or PostgreSQL the rest must still pass.
    else it.skip(`skipped: there is no ${missing}`, () => {});
  });
}
