import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { root } from './entries.ts';

const pages = new Map(
  ['README.md', ...globSync('docs/**/*.md', { cwd: root })].map((file) => [
    file,
    readFileSync(join(root, file), 'utf8'),
  ]),
);
const page = (file: string) => pages.get(file) ?? '';

describe('README and docs', () => {
  test('lists the assumption ledger, entry by entry', () => {
    const [, table = ''] = page('docs/assumptions.md').split(
      '| id | assumption | basis | override |\n|---|---|---|---|\n',
    );
    const rows = table.split('\n\n')[0]?.trimEnd().split('\n');
    expect(rows).toEqual(
      assumptions.map(
        ({ id, statement, basis, override }) => `| \`${id}\` | ${statement} | ${basis} | ${override} |`,
      ),
    );
  });

  test('names the runtimes that the package is tried on, in their versions', () => {
    const [, section = ''] = page('docs/runtimes.md').split('\n## Runtimes\n');
    const stated = section.split('\n## ')[0] ?? '';
    expect(runtimeVersions().filter((version) => !stated.includes(version))).toEqual([]);
  });

  test('has only snippets that compile under strict settings', () => {
    const snippets = codeBlocks('ts');
    expect(snippets.length).toBeGreaterThan(3);
    expect(compileErrors(snippets)).toEqual([]);
  }, 60_000);

  test('a snippet that does not compile would be noticed', () => {
    const broken = [
      "import { ExchangeClient } from 'partner-exchange-sdk';\nnew ExchangeClient({ deploymnt: 1 });",
    ];
    expect(compileErrors(broken).join()).toContain('deploymnt');
  }, 60_000);
});

function runtimeVersions(): string[] {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../runtimes/package.json', import.meta.url), 'utf8'),
  );
  // Our own file, with exact versions: `1.4.5` or `npm:node@22.12.0`.
  const { optionalDependencies } = manifest as { optionalDependencies: Record<string, string> };
  const versions = Object.values(optionalDependencies).map((range) => range.replace(/^npm:.*@/, ''));
  expect(versions.length).toBeGreaterThan(5);
  return versions;
}

/** Fenced blocks of a language, without the indentation they have inside a list. */
function codeBlocks(language: string): string[] {
  const all = [...pages.values()].join('\n');
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
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}
