/** Scenarios in which something once broke: CI plays them each time. As `--seed` and `--only` take them. */
export const failedSeeds: readonly (readonly [seed: string, number: number])[] = [
  ['a', 46],
  ['a', 112],
  ['a', 123],
  ['a', 278],
  ['proof', 88],
];
