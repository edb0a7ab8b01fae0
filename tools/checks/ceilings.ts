import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';

/**
 * The most lines of code and style in each folder. A step lowers a ceiling to what it reached. To raise one takes a
 * reason in the commit; a ceiling that is reached is a reason to delete.
 */
export const ceilings: Readonly<Record<string, number>> = {
  'src/index.ts': 112,
  'src/client': 2278,
  'src/credentials': 965,
  'src/deployment': 2563,
  'src/devtools/cli': 6971,
  'src/devtools/diagnostics': 7754,
  'src/devtools/inspector': 2382,
  'src/devtools/sandbox': 6078,
  'src/devtools/testing': 1112,
  'src/errors': 611,
  'src/events': 1543,
  'src/inbox': 2827,
  'src/internal': 1458,
  'src/keys': 912,
  'src/orders': 3091,
  'src/otp': 1707,
  'src/signature': 882,
  'src/store': 3160,
  'src/webhooks': 2525,
  'test/bench': 1865,
  'test/chaos': 5233,
  'test/client': 4370,
  'test/contract': 497,
  'test/crash': 1222,
  'test/credentials': 887,
  'test/deployment': 1811,
  'test/devtools/cli': 6958,
  'test/devtools/diagnostics': 5523,
  'test/devtools/inspector': 2302,
  'test/devtools/sandbox': 3681,
  'test/devtools/testing': 1146,
  'test/drawn': 1524,
  'test/errors': 559,
  'test/events': 2066,
  'test/formats': 1781,
  'test/inbox': 9003,
  'test/internal': 1562,
  'test/keys': 2514,
  'test/languages': 388,
  'test/orders': 5159,
  'test/orms': 138,
  'test/otp': 3071,
  'test/package': 1691,
  'test/proof': 1622,
  'test/runtimes': 1405,
  'test/signature': 2126,
  'test/store': 3243,
  'test/support': 1691,
  'test/webhooks': 8381,
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
