/** Whether to do all that everyday runs leave to `npm run prove`, which sets `TEST_THOROUGH`: docs/details/development.md. */
export const isThorough = process.env.TEST_THOROUGH === '1';

/** `npm run mutants`: each mutant that survives runs every test that reaches it, and instrumented code takes its time. */
export const isForMutants = process.env.MUTANTS !== undefined;

/** How often to repeat something. */
export function times(here: number, thorough: number): number {
  if (isForMutants) return Math.ceil(here / 20);
  return isThorough ? thorough : here;
}

/** So many of a list, spread over it; all of them when the run is thorough. */
export function some<T>(all: readonly T[], here: number): readonly T[] {
  const placeOf = (index: number) => Math.floor((index * here) / all.length);
  return all.filter((_, index) => isThorough || placeOf(index) !== placeOf(index - 1));
}
