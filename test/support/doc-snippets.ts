import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { entrySource } from '../../tools/entry-source.ts';

/** The snippets of a page in a language, TypeScript by default. */
export function snippetsOf(page: string, language = 'ts'): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...blocks].map(([, code = '']) => code);
}

export interface SnippetRun {
  /** The page, or the example, below the repository. */
  readonly page: string;
  /** The first snippet that holds this text is run. @default the first one of the page */
  readonly mark?: string;
  /** An existing folder for the program, in which it runs. */
  readonly folder: string;
  /** Texts of the snippet, each with its replacement. */
  readonly replaced?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of node. */
  readonly flags?: readonly string[];
  /** @default 'inherit' */
  readonly stderr?: 'inherit' | 'pipe';
}

/** The extension under which a snippet is saved: that of the file in its first line, or mts. */
function languageOf(code: string): string {
  return /^\/\/ [\w.-]+\.(m[jt]s)\b/.exec(code)?.[1] ?? 'mts';
}

/** Runs a snippet of a page over the sources, as a process that ends with the test. */
export function startSnippet({
  page,
  mark = '',
  folder,
  replaced = {},
  env = {},
  flags = [],
  stderr = 'inherit',
}: SnippetRun): ChildProcess {
  const programs = page.endsWith('.md') ? snippetsOf(page) : [readFileSync(join(root, page), 'utf8')];
  let code = programs.find((each) => each.includes(mark)) ?? expect.unreachable(`no snippet: ${mark}`);
  for (const [before, after] of Object.entries(replaced)) {
    if (!code.includes(before)) expect.unreachable(`not in the snippet: ${before}`);
    code = code.replace(before, after);
  }
  // Tests of one page run at the same time, so none may have the port of its figures.
  code = code.replace("listen(9464, '127.0.0.1')", "listen(0, '127.0.0.1')");
  code = code.replaceAll(/'partner-exchange-sdk(\/[\w/-]+)?'/g, (_, entry: string = '') =>
    JSON.stringify(pathToFileURL(join(root, entrySource(`.${entry}`, root))).href),
  );
  const file = join(folder, `snippet-${mark.replaceAll(/\W/g, '')}.${languageOf(code)}`);
  writeFileSync(file, code);
  const child = spawn(process.execPath, ['--disable-warning=PartnerExchangeWarning', ...flags, file], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', stderr],
  });
  onTestFinished(() => void child.kill());
  return child;
}
