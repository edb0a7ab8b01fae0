import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';

/**
 * The most lines of code and style in each folder. A step lowers a ceiling to what it reached. To raise one takes a
 * reason in the commit; a ceiling that is reached is a reason to delete.
 */
export const ceilings: Readonly<Record<string, number>> = {
  'src/index.ts': 111,
  'src/client': 2365,
  'src/credentials': 995,
  'src/deployment': 2774,
  'src/devtools/cli': 7555,
  'src/devtools/diagnostics': 10297,
  'src/devtools/inspector': 3769,
  'src/devtools/sandbox': 6885,
  'src/devtools/testing': 1111,
  'src/errors': 799,
  'src/events': 1568,
  'src/inbox': 2939,
  'src/internal': 1879,
  'src/keys': 925,
  'src/orders': 3722,
  'src/otp': 1743,
  'src/signature': 900,
  'src/store': 3224,
  'src/webhooks': 2729,
  'test/bench': 3443,
  'test/chaos': 5230,
  'test/client': 5399,
  'test/contract': 606,
  'test/crash': 1223,
  'test/credentials': 895,
  'test/deployment': 2098,
  'test/devtools/cli': 6969,
  'test/devtools/diagnostics': 6591,
  'test/devtools/inspector': 2547,
  'test/devtools/sandbox': 3702,
  'test/devtools/testing': 1146,
  'test/drawn': 1554,
  'test/errors': 657,
  'test/events': 2066,
  'test/formats': 1812,
  'test/inbox': 9073,
  'test/internal': 2124,
  'test/keys': 2534,
  'test/languages': 388,
  'test/orders': 8025,
  'test/orms': 138,
  'test/otp': 2766,
  'test/package': 1769,
  'test/proof': 1660,
  'test/runtimes': 1405,
  'test/signature': 2132,
  'test/soak': 768,
  'test/store': 3249,
  'test/support': 1736,
  'test/webhooks': 8455,
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
