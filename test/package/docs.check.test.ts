import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { commonJsCases } from '../../tools/checks/common-js.ts';
import { readEntries, root } from '../../tools/checks/entries.ts';
import { findBrokenReferences } from '../../tools/documents/references.ts';
import { generatedTables, tableText } from '../../tools/documents/tables.ts';
import { scratchFolder } from '../support/scratch.ts';

const pages = new Map(
  [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'AGENTS.md',
    'llms.txt',
    ...globSync('docs/**/*.md', { cwd: root }),
  ].map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);
const page = (file: string) => pages.get(file) ?? '';

describe('the documentation', () => {
  test.each(generatedTables)('$page has the table that npm run docs:tables writes', (table) => {
    expect(page(table.page)).toContain(`\n\n${tableText(table)}\n\n`);
  });

  test('lists every entry of the package, and no other', () => {
    const [, table = ''] = page('docs/details/runtimes.md').split('\n## Entries\n');
    const rows = table.split('\n## ')[0]?.matchAll(/^\| `(partner-exchange-sdk[^`]*)` \|/gm) ?? [];
    const listed = [...rows].map(([, specifier]) => specifier);
    expect(listed.sort()).toEqual(
      readEntries()
        .map(({ specifier }) => specifier)
        .sort(),
    );
  });

  test('says what works in CommonJS, as check:package tries it', () => {
    const [, table = ''] = page('docs/details/runtimes.md').split(
      '| `await import(…)` |\n|---|---|---|---|---|\n',
    );
    const rows = commonJsCases.map(
      ({ module, moduleResolution, versions, staticImport, dynamicImport }) =>
        `| \`${module}\` | \`${moduleResolution}\` | ${versions.join(', ')} | ${staticImport} | ${dynamicImport} |`,
    );
    expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
  });

  test('refers only to files and headings that exist, and so do examples and sources', () => {
    expect(findBrokenReferences(root)).toEqual([]);
  });

  test('would fail with a broken link, path, heading or file name', () => {
    const folder = scratchFolder();
    const write = (file: string, text: string) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    };
    write('package.json', '{"files":["docs","!docs/own.md","examples"]}');
    write('docs/own.md', '');
    write(
      'README.md',
      '[a](docs/a.md#of-a) [c](docs/missing.md) [d](docs/a.md#missing) [e](test/t.ts) [g](../README.md) `t.ts` `missing.ts`',
    );
    write('docs/a.md', '# Of A\n\n[here](#of-a) [up](../README.md) [gone](#gone) src/*.ts');
    write('examples/e.ts', '// See docs/a.md#of-a and partner-exchange-sdk/docs/b.md.');
    write('src/s.ts', '/** As docs/a.md#else says, and docs/<page>.md. */');
    write('test/t.ts', '');
    expect(findBrokenReferences(folder).sort()).toEqual([
      'README.md: ../README.md',
      'README.md: docs/a.md#missing',
      'README.md: docs/missing.md',
      'README.md: missing.ts',
      'README.md: test/t.ts',
      'docs/a.md: #gone',
      'examples/e.ts: docs/b.md',
      'src/s.ts: docs/a.md#else',
    ]);
  });

  test('begins guides with their reader and a program, details pages with a reason to skip them', () => {
    const firstWords = {
      guides: /^# .+\n\nFor (?:(?!\n## )[\s\S])+\n```/,
      details: /^# .+\n\nDetails: skip this page unless /,
    };
    const odd = Object.entries(firstWords).flatMap(([folder, begin]) =>
      [...pages].filter(([file, text]) => file.startsWith(`docs/${folder}/`) && !begin.test(text)),
    );
    expect(odd.map(([file]) => file)).toEqual([]);
  });

  test('has a README of fewer than 120 lines', () => {
    expect(page('README.md').trimEnd().split('\n').length).toBeLessThan(120);
  });

  test('has only JSON that parses, and shell lines that name scripts there are', () => {
    for (const json of codeBlocks('json')) expect(() => JSON.parse(json)).not.toThrow();
    const { scripts } = manifest();
    const all = [...pages.values()].join('\n');
    const named = [...all.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('has only commands that CI types: those of the quick start and of a clone', () => {
    const quickStart = page('docs/quick-start.md');
    const typed = (block: string) =>
      quickStart.includes(`\n${block}\`\`\``) || /^(?:npm [^\n]+\n)+$/.test(block);
    expect(codeBlocks('sh').filter((block) => !typed(block))).toEqual([]);
    const [, ofReadme = ''] = page('README.md').split('\n## Quick start\n');
    const blocks = [...(ofReadme.split('\n## ')[0] ?? '').matchAll(/^```\w+\n[\s\S]*?^```$/gm)].map(
      ([block]) => block,
    );
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.filter((block) => !quickStart.includes(block))).toEqual([]);
  });

  test('has only snippets that compile under strict settings; one that does not is noticed', () => {
    const snippets = codeBlocks('ts');
    expect(snippets.length).toBeGreaterThan(8);
    const broken =
      "import { ExchangeClient } from 'partner-exchange-sdk';\nnew ExchangeClient({ deploymnt: 1 });";
    // In one program: most of the time goes into the declarations of the libraries.
    const errors = compileErrors([...snippets, broken]);
    const isExpected = (error: string) => error.includes(`readme-snippet-${snippets.length}.ts`);
    expect(errors.filter((error) => !isExpected(error))).toEqual([]);
    expect(errors.find(isExpected)).toContain('deploymnt');
  }, 120_000);
});

function manifest() {
  // Our own file; publint checks its form.
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
}

/** Fenced blocks of a language, without the indentation they have inside a list. */
function codeBlocks(language: string): string[] {
  // The reference shows signatures; the examples of doc comments leave out what is around them.
  const written = [...pages].filter(([file]) => !file.startsWith('docs/reference/'));
  const all = written.map(([, text]) => text).join('\n');
  const blocks = all.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return [...blocks].map(([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

function compileErrors(snippets: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const files = new Map(snippets.map((code, index) => [join(root, `readme-snippet-${index}.ts`), code]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  // Of the snippets alone: `npm run types` checks the sources that they import.
  const sources = [...files.keys()].flatMap((file) => program.getSourceFile(file) ?? []);
  return sources
    .flatMap((source) => ts.getPreEmitDiagnostics(program, source))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}
