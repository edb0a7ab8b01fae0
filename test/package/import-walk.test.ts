import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEntries, root } from '../../tools/checks/entries.ts';
import { beyondReach, bundledPackages, leakedFiles } from '../../tools/checks/entry-reach.ts';
import {
  findBreaches,
  reachableFiles,
  reachablePackages,
  readImportGraph,
} from '../../tools/checks/import-rules.ts';

const readGraph = (folder: string, pattern: string) =>
  readImportGraph(
    Object.fromEntries(
      globSync(pattern, { cwd: folder, exclude: ['**/node_modules'] }).map((file) => [
        file,
        readFileSync(join(folder, file), 'utf8'),
      ]),
    ),
  );
const graph = readGraph(join(root, 'src'), '**/*.{ts,tsx}');

describe('src', () => {
  it('imports one way, without cycles, star exports or detours through an index', () => {
    expect(findBreaches(graph)).toEqual([]);
  });

  it.each(readEntries())(
    '$subpath loads nothing beyond its reach, and nothing of another entry',
    ({ subpath, source: file }) => {
      const entry = file.slice('src/'.length);
      expect(graph.has(entry), `${file} exists`).toBe(true);
      const bundled = bundledPackages(subpath);
      const reached = reachablePackages(graph, entry);
      const own = reached.filter((name) => !bundled.includes(name));
      expect(beyondReach(subpath, own)).toEqual([]);
      expect(bundled.filter((name) => !reached.includes(name))).toEqual([]);
      expect(leakedFiles(subpath, reachableFiles(graph, entry))).toEqual([]);
    },
  );
});

describe('the walker', () => {
  const breachesOf = (sources: Record<string, string>) => findBreaches(readImportGraph(sources));

  it.each([
    ['to the right', 'signature/a.ts', 'events/b.ts', 'against the order: signature must not import events'],
    [
      'of the tools',
      'webhooks/a.ts',
      'devtools/sandbox/b.ts',
      'against the order: webhooks must not import devtools/sandbox',
    ],
    ['across the wire', 'devtools/sandbox/a.ts', 'client/b.ts', 'devtools/sandbox must not import client'],
    ['unknown to the order', 'events/a.ts', 'helpers/b.ts', 'folder helpers has no place in the order'],
  ])('refuses an import of a folder %s, of types too', (_, from, to, problem) => {
    const path = posix.relative(posix.dirname(from), to);
    for (const keyword of ['import', 'import type']) {
      const breaches = breachesOf({
        [from]: `${keyword} { b } from '${path}';`,
        [to]: 'export const b = 1;',
      });
      expect(breaches).toContain(`${from} -> ${path}: ${problem}`);
    }
  });

  it('accepts the type of a member of an error from the folder that throws it, and nothing else of it', () => {
    const from = (keyword: string) =>
      breachesOf({
        'errors/a.ts': `${keyword} { B } from '../orders/b.ts';`,
        'orders/b.ts': 'export class B {}',
      });
    expect(from('import type')).toEqual([]);
    expect(from('import')).toEqual([
      'errors/a.ts -> ../orders/b.ts: against the order: errors must not import orders',
    ]);
  });

  it('refuses a cycle made of types', () => {
    const breaches = breachesOf({
      'events/a.ts': "import type { B } from './b.ts'; export type A = B;",
      'events/b.ts': "export type B = import('./c.ts').C;",
      'events/c.ts': "import { a } from './a.ts';",
    });
    expect(breaches).toEqual(['cycle: events/a.ts -> events/b.ts -> events/c.ts -> events/a.ts']);
  });

  it.each([
    [
      "import { b } from '../signature/index.ts';",
      '../signature/index.ts: imports an index.ts: import the file that defines it',
    ],
    ["export { b } from './b.ts';", './b.ts: only an entry index.ts re-exports'],
    ["import { b } from './b';", './b: import without .ts'],
    ["export * from './b.ts';", './b.ts: export *: re-export by name'],
    ["import { b } from './gone.ts';", './gone.ts: leads to no file of src'],
    [
      "import 'partner-exchange-sdk/signature';",
      'partner-exchange-sdk/signature: the package imports itself by name',
    ],
  ])('refuses %s', (statement, problem) => {
    const sources = { 'events/a.ts': statement, 'events/b.ts': '', 'signature/index.ts': '' };
    expect(breachesOf(sources)).toEqual([`events/a.ts -> ${problem}`]);
  });
});

describe('the reach of an entry', () => {
  const sources = {
    'webhooks/index.ts': "export { a } from './a.ts'; export type { T } from './t.ts';",
    'webhooks/a.ts':
      "import { createHash } from 'node:crypto'; import * as z from 'zod/mini'; import './b.ts';",
    'webhooks/b.ts':
      "import type { KyInstance } from 'ky'; import { type Server } from 'node:http'; await import('ioredis');",
    'webhooks/t.ts': "import ky from 'ky';",
  };

  it('is every package that runs, and no package that is only typed', () => {
    const reached = reachablePackages(readImportGraph(sources), 'webhooks/index.ts');
    expect(reached).toEqual(['ioredis', 'node:crypto', 'node:http', 'zod/mini']);
  });

  it('names a file that belongs to another entry, and not one that is only typed', () => {
    const graph = readImportGraph({
      'signature/index.ts':
        "export { a } from './a.ts'; import type { D } from '../devtools/diagnostics/d.ts';",
      'signature/a.ts': "import { w } from '../webhooks/w.ts'; import '../errors/e.ts';",
      'webhooks/w.ts': '',
      'errors/e.ts': '',
      'devtools/diagnostics/d.ts': '',
    });
    expect(leakedFiles('./signature', reachableFiles(graph, 'signature/index.ts'))).toEqual([
      'webhooks/w.ts',
    ]);
  });

  it('names a file of a package that is bundled into another entry', () => {
    const files = ['otp/flow.ts', '../node_modules/libphonenumber-js/mobile/index.js'];
    expect(leakedFiles('./otp', files)).toEqual([]);
    expect(leakedFiles('./inbox', files)).toEqual(files);
  });

  it.each([
    ['./signature', ['node:crypto', 'zod'], ['zod']],
    // A built entry must not import what is bundled into it.
    ['./otp', ['node:crypto', 'libphonenumber-js'], ['libphonenumber-js']],
    ['./an-entry-without-a-row', ['node:crypto'], ['node:crypto']],
  ])('%s with %j is stopped at %j', (subpath, reached, beyond) => {
    expect(beyondReach(subpath, reached)).toEqual(beyond);
  });
});
