import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { findUnitBreaches, readImportGraph } from '../../tools/checks/import-rules.ts';

describe('unit tests', () => {
  it('import nothing that starts a process, a server, a browser or a database', { timeout: 60_000 }, () => {
    const files = globSync('{test,tools}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] });
    const texts = files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
    const tests = readImportGraph(Object.fromEntries(texts));
    expect(tests.size).toBeGreaterThan(200);
    expect(findUnitBreaches(tests)).toEqual([]);
  });

  const breachesOf = (sources: Record<string, string>) => findUnitBreaches(readImportGraph(sources));

  it.each([
    "import { spawn } from 'node:child_process';",
    "import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';",
  ])('are refused %s, also through a helper', (statement) => {
    const sources = {
      'test/a/direct.test.ts': statement,
      'test/a/helped.test.ts': "import './helper.ts';",
      'test/a/helper.ts': statement,
    };
    expect(breachesOf(sources)).toEqual([
      expect.stringContaining('test/a/direct.test.ts: test/a/direct.test.ts imports '),
      expect.stringContaining('test/a/helped.test.ts: test/a/helper.ts imports '),
    ]);
  });

  it('may import types, what computes, and a sandbox in process', () => {
    const breaches = breachesOf({
      'test/a/a.test.ts':
        "import type { Server } from 'node:http'; import { BlockList } from 'node:net'; import '../../src/s.ts';",
      'src/s.ts': "import 'node:http';",
      'test/a/b.integration.test.ts': "import 'node:http';",
    });
    expect(breaches).toEqual([]);
  });
});
