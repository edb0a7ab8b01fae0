import { expect, it } from 'vitest';
import { ceilings, countLines, findExcess } from '../../tools/checks/ceilings.ts';

it('names each folder above its ceiling, and each that has none', () => {
  const lines = new Map([
    ['src/inbox', 11],
    ['src/store', 10],
    ['src/new', 1],
  ]);
  expect(findExcess(lines, { 'src/inbox': 10, 'src/store': 10 })).toEqual([
    'src/inbox has 11 lines, and may have 10',
    'src/new has 1 lines, and no ceiling',
  ]);
});

it('counts the files of src and test, and has a ceiling for no folder that is gone', () => {
  const lines = countLines();
  expect(lines.get('src/signature')).toBeGreaterThan(500);
  expect(lines.get('src/devtools/cli')).toBeGreaterThan(1_000);
  expect(Object.keys(ceilings).filter((folder) => !lines.has(folder))).toEqual([]);
});
