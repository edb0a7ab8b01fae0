import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';

/**
 * The most lines of code and style in each folder. A step lowers a ceiling to what it reached. To raise one takes a
 * reason in the commit; a ceiling that is reached is a reason to delete.
 */
export const ceilings: Readonly<Record<string, number>> = {
  'src/index.ts': 114,
  'src/client': 2155,
  'src/credentials': 894,
  'src/deployment': 2537,
  'src/devtools/cli': 5226,
  'src/devtools/diagnostics': 6588,
  'src/devtools/inspector': 2259,
  'src/devtools/sandbox': 5298,
  'src/devtools/testing': 1047,
  'src/errors': 625,
  'src/events': 1400,
  'src/inbox': 2722,
  'src/internal': 1445,
  'src/keys': 909,
  'src/orders': 3074,
  'src/otp': 1348,
  'src/signature': 882,
  'src/store': 2852,
  'src/webhooks': 2184,
  'test/bench': 1692,
  'test/chaos': 5234,
  'test/client': 4260,
  'test/contract': 483,
  'test/crash': 986,
  'test/credentials': 806,
  'test/deployment': 1812,
  'test/devtools/cli': 4795,
  'test/devtools/diagnostics': 4419,
  'test/devtools/inspector': 1658,
  'test/devtools/sandbox': 2988,
  'test/devtools/testing': 1054,
  'test/drawn': 721,
  'test/errors': 559,
  'test/events': 1506,
  'test/formats': 1744,
  'test/inbox': 5254,
  'test/internal': 1538,
  'test/keys': 1452,
  'test/languages': 388,
  'test/orders': 5159,
  'test/orms': 138,
  'test/otp': 1950,
  'test/package': 1691,
  'test/proof': 1622,
  'test/runtimes': 1404,
  'test/signature': 1833,
  'test/store': 2692,
  'test/support': 1700,
  'test/webhooks': 5902,
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
