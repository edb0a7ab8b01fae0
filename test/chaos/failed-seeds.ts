/** Scenarios in which something once broke: CI plays them each time. As `--seed` and `--only` take them. */
export const failedSeeds: readonly (readonly [seed: string, number: number])[] = [
  ['y2', 130],
  ['y2', 139],
  ['y2', 354],
  ['y3', 107],
  ['y3', 290],
  ['z1', 11],
  ['z2', 34],
  ['z2', 96],
  ['z2', 181],
  ['z6', 115],
  ['land1', 26],
  ['land1', 217],
  ['land1', 366],
  ['n1', 325],
  ['n2', 160],
  ['n2', 306],
];
