import { randomBytes } from 'node:crypto';
import { describe, inject, it } from 'vitest';

const [redis, postgres] = [inject('redis'), inject('postgres')];
/** Of the run's own servers. Empty where there is none: nothing uses them then. */
export const redisUrl = 'url' in redis ? redis.url : '';
export const postgresUrl = 'url' in postgres ? postgres.url : '';

/** Unique to the run, so that runs side by side do not meet. */
export const run = `pex_${randomBytes(5).toString('hex')}`;

/** Tests that need a server: skipped and named where there is none; in CI they fail. */
export function describeWith(server: 'redis' | 'postgres', name: string, define: () => void): void {
  const found = inject(server);
  describe(name, () => {
    if ('url' in found) return define();
    if (process.env.CI === 'true' || process.env.CI === '1') {
      it('is tested', () => {
        throw new Error(`In CI every engine is tested, and there is no ${found.missing}.`);
      });
    }
    // The name says what is missing: without the server the rest must still pass.
    else it.skip(`skipped: there is no ${found.missing}`, () => {});
  });
}
