import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';

/**
 * The most lines of code and style in each folder. A step lowers a ceiling to what it reached. To raise one takes a
 * reason in the commit; a ceiling that is reached is a reason to delete.
 */
export const ceilings: Readonly<Record<string, number>> = {
  'src/index.ts': 109,
  'src/client': 1992,
  'src/credentials': 849,
  'src/deployment': 2437,
  'src/devtools/cli': 5255,
  'src/devtools/diagnostics': 5737,
  'src/devtools/inspector': 2254,
  'src/devtools/sandbox': 5286,
  'src/devtools/testing': 1047,
  'src/errors': 625,
  'src/events': 1389,
  'src/inbox': 2686,
  'src/internal': 1435,
  'src/keys': 900,
  'src/orders': 2901,
  'src/otp': 1347,
  'src/signature': 847,
  'src/store': 2796,
  'src/webhooks': 1927,
  'test/bench': 1687,
  'test/chaos': 4499,
  'test/client': 3698,
  'test/contract': 483,
  'test/crash': 817,
  'test/credentials': 677,
  'test/deployment': 1500,
  'test/devtools/cli': 4744,
  'test/devtools/diagnostics': 4015,
  'test/devtools/inspector': 1572,
  'test/devtools/sandbox': 2596,
  'test/devtools/testing': 895,
  'test/drawn': 647,
  'test/errors': 500,
  'test/events': 1497,
  'test/formats': 1393,
  'test/inbox': 4693,
  'test/internal': 1300,
  'test/keys': 1250,
  'test/languages': 388,
  'test/orders': 4506,
  'test/orms': 139,
  'test/otp': 1947,
  'test/package': 1448,
  'test/proof': 1345,
  'test/runtimes': 1140,
  'test/signature': 1647,
  'test/store': 3943,
  'test/support': 1490,
  'test/webhooks': 4989,
};

/** The folders with more lines than their ceiling, and those that have none. */
export function findExcess(
  lines: ReadonlyMap<string, number>,
  limits: Readonly<Record<string, number>>,
): string[] {
  return [...lines].flatMap(([folder, count]) => {
    const limit = limits[folder];
    if (limit === undefined) return [`${folder} has ${count} lines, and no ceiling`];
    return count > limit ? [`${folder} has ${count} lines, and may have ${limit}`] : [];
  });
}

/** The lines of each folder of `src` and `test`; below `devtools` of each of its folders. */
export function countLines(): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const files = globSync('{src,test}/**/*.{ts,tsx,css,html}', { cwd: root, exclude: ['**/node_modules/**'] });
  for (const file of files.sort()) {
    const folder = /^[^/]+\/(devtools\/)?[^/]+/.exec(file)?.[0] ?? file;
    const count = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    lines.set(folder, (lines.get(folder) ?? 0) + count);
  }
  return lines;
}

if (import.meta.main) {
  const lines = countLines();
  const excess = findExcess(lines, ceilings);
  for (const sentence of excess) console.error(sentence);
  if (process.argv.includes('--list')) for (const [folder, count] of lines) console.log(`${folder} ${count}`);
  if (excess.length > 0) process.exitCode = 1;
}
