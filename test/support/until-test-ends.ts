import { onTestFinished } from 'vitest';

/**
 * An answer that does not come during the test. It fails when the test ends: what waits for it would end by its time limit,
 * in the middle of another file of the process.
 */
export const untilTestEnds = () =>
  new Promise<never>((_, reject) => onTestFinished(() => reject(new Error('The test has ended.'))));
