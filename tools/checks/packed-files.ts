import { globSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { readCommands, readEntries, readManifest } from './entries.ts';
import { thirdPartyFiles } from './third-party.ts';

const documents = [
  'AGENTS.md',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'llms.txt',
  'package.json',
  'skills/partner-exchange/SKILL.md',
];
/** The links of the README and the pages lead to these. Pictures, the reference and pages for maintainers are left out. */
const reading =
  /^(?:docs\/(?!images\/|reference\/|architecture\.|recipes\.|details\/development\.).+\.md|examples\/.+\.ts|examples\/languages\/\w+\.(?:py|php|go|java|rb)|vectors\/signatures(?:\.schema)?\.json)$/;
const contract = /^contract\/(?:openapi|(?:schemas|examples)\/[\w.]+)\.json$/;
const builtFile = /^dist\/[\w-]+\.(?:js|js\.map|d\.ts)$/;
/** The command line has no source maps: no user debugs into it. */
const commandLine = /^dist\/cli\/[\w-]+\.js$/;
const testCode = /\bfrom ?"(?:vitest|msw|fast-check)|\/test\//;
/** Built-in modules without `node:`, which Deno and Workers do not find; `sqlite` is found nowhere. */
const bareBuiltin = new RegExp(
  `\\b(?:from|import|require)\\s*\\(?\\s*["'](?:${[...builtinModules, 'sqlite'].filter((name) => !name.startsWith('node:')).join('|')})["']`,
);
/** What tells of the machine that the package was built on. */
const machinePath = /\/work\/|\/home\/|\/Users\/|\/root\/|\/tmp\/|file:\/\/\/|[A-Z]:\\{1,2}Users/;

/** What the package holds and should not, or should hold and does not. */
export function findFileProblems(installed: string): string[] {
  const files = globSync('**', { cwd: installed }).filter((file) => statSync(join(installed, file)).isFile());
  const expected = [...documents, ...Object.values(thirdPartyFiles)];
  return [
    ...expected.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files
      .filter((file) => !expected.includes(file))
      .filter((file) => ![reading, contract, builtFile, commandLine].some((kind) => kind.test(file)))
      .map((file) => `${file} does not belong in the package`),
    ...files
      .filter((file) => file.endsWith('.js') && !commandLine.test(file) && !files.includes(`${file}.map`))
      .map((file) => `${file} has no source map`),
    ...findCommandProblems(installed, files),
    ...findDoubles(installed, files),
    ...findUnreached(installed, files).map((file) => `${file} is reached from no entry`),
    ...files.flatMap((file) => findTextProblems(file, readFileSync(join(installed, file), 'utf8'))),
  ];
}

/** The command of the package's own name, which npx runs, and a shorter one. */
function findCommandProblems(installed: string, files: readonly string[]): string[] {
  const commands = Object.entries(readCommands());
  const isNamed = commands.some(([name]) => name === readManifest().name);
  const problems = isNamed ? [] : ['npx of the name of the package needs a command of this name'];
  for (const [name, file] of commands) {
    if (!files.includes(file)) problems.push(`${file} of the command ${name} is missing`);
    else if (!readFileSync(join(installed, file), 'utf8').startsWith('#!/usr/bin/env node\n')) {
      problems.push(`${file} does not say that Node runs it`);
    } else if (process.platform !== 'win32' && (statSync(join(installed, file)).mode & 0o111) === 0) {
      problems.push(`${file} is not executable`);
    }
  }
  const library = files.filter((file) => builtFile.test(file) && !file.endsWith('.map'));
  return [
    ...problems,
    ...library
      .filter((file) => /['"]\.\/cli\//.test(readFileSync(join(installed, file), 'utf8')))
      .map((file) => `${file} loads the command line`),
  ];
}

/** Sources that are in the library twice: `instanceof` would not know the classes of the other copy. */
function findDoubles(installed: string, files: readonly string[]): string[] {
  const maps = files.filter((file) => builtFile.test(file) && file.endsWith('.js.map'));
  const sources = maps.flatMap((file) => readMap(readFileSync(join(installed, file), 'utf8')).sources);
  return sources
    .filter((source, index) => sources.indexOf(source) < index)
    .map((source) => `${source} is in several files of dist`);
}

/** Built files that nothing leads to, left over from an earlier build. */
function findUnreached(installed: string, files: readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file) || !files.includes(file)) return;
    reached.add(file);
    const text = readFileSync(join(installed, file), 'utf8');
    const folder = posix.dirname(file);
    for (const [, name = ''] of text.matchAll(/['"]\.\/([\w-]+)\.js['"]/g)) {
      visit(`${folder}/${name}${file.endsWith('.d.ts') ? '.d.ts' : '.js'}`);
    }
  };
  for (const { built } of readEntries()) {
    visit(built);
    visit(built.replace(/\.js$/, '.d.ts'));
  }
  for (const file of Object.values(readCommands())) visit(file);
  return files.filter((file) => /^dist\/.*(?:\.js|\.d\.ts)$/.test(file) && !reached.has(file));
}

function findTextProblems(file: string, text: string): string[] {
  const problems: string[] = [];
  const path = machinePath.exec(text);
  if (path) problems.push(`${file} holds a machine path: ${path[0]}`);
  if (file.endsWith('.js') && testCode.test(text)) problems.push(`${file} holds test code`);
  const builtin = file.endsWith('.js') ? bareBuiltin.exec(text) : undefined;
  if (builtin) problems.push(`${file} needs the prefix node: in ${builtin[0]}`);
  if (file.endsWith('.map')) problems.push(...findMapProblems(file, text));
  return problems;
}

function findMapProblems(file: string, text: string): string[] {
  const map = readMap(text);
  const problems = map.sources
    .filter((source) => !/^\.\.\/(?:src|node_modules)\//.test(source))
    .map((source) => `${file} has a source outside src: ${source}`);
  if (map.sourceRoot !== undefined) problems.push(`${file} has a sourceRoot`);
  // A stack trace needs names and lines alone.
  if (map.sourcesContent !== undefined) problems.push(`${file} holds the text of its sources`);
  return problems;
}

function readMap(text: string): { sources: string[]; sourcesContent?: unknown; sourceRoot?: string } {
  // The form that the source map specification fixes; a map of another form is reported as incomplete.
  return JSON.parse(text);
}
