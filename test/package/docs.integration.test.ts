import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { commonJsCases } from './common-js.ts';
import { readEntries, root } from './entries.ts';

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
const headings = new Map([...pages].map(([file, text]) => [file, headingsOf(text)]));

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
    const [, section = ''] = page('docs/details/runtimes.md').split('\n## Runtimes\n');
    const stated = section.split('\n## ')[0] ?? '';
    expect(runtimeVersions().filter((version) => !stated.includes(version))).toEqual([]);
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
      '| `await import(…)` |\n|---|---|---|---|\n',
    );
    const rows = commonJsCases.map(
      ({ module, moduleResolution, staticImport, dynamicImport }) =>
        `| \`${module}\` | \`${moduleResolution}\` | ${staticImport} | ${dynamicImport} |`,
    );
    expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
  });

  test('tells for each part of the surroundings what can happen, what we do, and what the user does', () => {
    const [, table = ''] = page('docs/details/security.md').split(
      '| where | what can happen | what we do | what you do |\n|---|---|---|---|\n',
    );
    const rows = [...table.matchAll(/^\| (.+) \|$/gm)].map(([, row = '']) => row.split(' | '));
    expect(rows.map(([what]) => what)).toEqual([
      'Other users of the machine',
      'Terminals',
      'Tracers',
      'Environment proxies',
      '`NODE_TLS_REJECT_UNAUTHORIZED=0`',
      '`sandbox --host 0.0.0.0` with a known seed',
      '`node_modules` of the current folder',
    ]);
    expect(rows.filter((cells) => cells.length !== 4 || cells.includes(''))).toEqual([]);
  });

  test('has only links that lead to something the package holds', () => {
    const broken = [...pages].flatMap(([file, text]) =>
      relativeLinks(text)
        .filter((link) => !leadsSomewhere(file, link))
        .map((link) => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
    expect(relativeLinks(page('README.md')).length).toBeGreaterThan(8);
  });

  test('a link to a missing file, a missing heading or a file left out of the package would be noticed', () => {
    const links = [
      'docs/missing.md',
      'docs/details/clients.md#no-such-heading',
      'test/package/docs.integration.test.ts',
      '../README.md',
    ];
    expect(links.filter((link) => leadsSomewhere('README.md', link))).toEqual([]);
    expect(leadsSomewhere('docs/details/security.md', '#replay')).toBe(true);
  });

  test('guides begin with their reader and a program, details pages with a reason to skip them', () => {
    const firstWords = {
      guides: /^# .+\n\nFor (?:(?!\n## )[\s\S])+\n```/,
      details: /^# .+\n\nDetails: skip this page unless /,
    };
    const odd = Object.entries(firstWords).flatMap(([folder, begin]) =>
      [...pages].filter(([file, text]) => file.startsWith(`docs/${folder}/`) && !begin.test(text)),
    );
    expect(odd.map(([file]) => file)).toEqual([]);
  });

  test('a README of fewer than 150 lines', () => {
    expect(page('README.md').trimEnd().split('\n').length).toBeLessThan(150);
  });

  test('shows the Worker on Cloudflare Queues as test:runtimes runs it', () => {
    const worker = readFileSync(join(root, 'examples/workers/cloudflare-queues.ts'), 'utf8');
    expect(codeBlocks('ts')).toContain(worker);
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
    expect(blocks.length).toBeGreaterThan(3);
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
    files: string[];
  };
}

/** Targets of links, and of images, that are not on the web. */
function relativeLinks(text: string): string[] {
  const prose = text.replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^\w+:/.test(link));
}

/** Whether a link leads to a file or folder that travels in the package, and to a heading that is there. */
function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? from : posix.join(posix.dirname(from), path);
  // npm packs these whatever `files` says.
  const packed = ['README.md', 'LICENSE', 'package.json', ...manifest().files];
  if (!packed.some((each) => target === each || target.startsWith(`${each}/`))) return false;
  if (globSync(target, { cwd: root }).length === 0) return false;
  return heading === undefined || (headings.get(target)?.has(heading) ?? false);
}

/** As GitHub and npm make anchors of headings: those of equal headings are numbered. Anchors of tables are written out. */
function headingsOf(text: string): Set<string> {
  const counts = new Map<string, number>();
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}

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
