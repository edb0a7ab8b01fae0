import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries } from './entries.ts';

const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
/** The README's links lead to these. */
const reading = /^(?:docs\/.+\.md|examples\/.+\.ts)$/;
const builtFile = /^dist\/[\w-]+\.(?:js|js\.map|d\.ts)$/;
const testCode = /\bfrom ?"(?:vitest|msw|fast-check)|\/test\//;
/** What tells of the machine that the package was built on. */
const machinePath = /\/work\/|\/home\/|\/Users\/|\/root\/|\/tmp\/|file:\/\/\/|[A-Z]:\\{1,2}Users/;

/** What the package holds and should not, or should hold and does not. */
export function findFileProblems(installed: string): string[] {
  const files = globSync('**', { cwd: installed }).filter((file) => statSync(join(installed, file)).isFile());
  return [
    ...documents.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files
      .filter((file) => !documents.includes(file) && !reading.test(file) && !builtFile.test(file))
      .map((file) => `${file} does not belong in the package`),
    ...files
      .filter((file) => file.endsWith('.js') && !files.includes(`${file}.map`))
      .map((file) => `${file} has no source map`),
    ...findUnreached(installed, files).map((file) => `${file} is reached from no entry`),
    ...files.flatMap((file) => findTextProblems(file, readFileSync(join(installed, file), 'utf8'))),
  ];
}

/** Built files that nothing leads to, left over from an earlier build. */
function findUnreached(installed: string, files: readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file) || !files.includes(file)) return;
    reached.add(file);
    const text = readFileSync(join(installed, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/['"]\.\/([\w-]+)\.js['"]/g)) {
      visit(`dist/${name}${file.endsWith('.d.ts') ? '.d.ts' : '.js'}`);
    }
  };
  for (const { built } of readEntries()) {
    visit(built);
    visit(built.replace(/\.js$/, '.d.ts'));
  }
  return files.filter((file) => /^dist\/.*(?:\.js|\.d\.ts)$/.test(file) && !reached.has(file));
}

function findTextProblems(file: string, text: string): string[] {
  const problems: string[] = [];
  const path = machinePath.exec(text);
  if (path) problems.push(`${file} holds a machine path: ${path[0]}`);
  if (file.endsWith('.js') && testCode.test(text)) problems.push(`${file} holds test code`);
  if (file.endsWith('.map')) problems.push(...findMapProblems(file, text));
  return problems;
}

function findMapProblems(file: string, text: string): string[] {
  // The form that the source map specification fixes; a map of another form is reported as incomplete.
  const map = JSON.parse(text) as { sources: string[]; sourcesContent?: string[]; sourceRoot?: string };
  const problems = map.sources
    .filter((source) => !source.startsWith('../src/'))
    .map((source) => `${file} has a source outside src: ${source}`);
  if (map.sourceRoot !== undefined) problems.push(`${file} has a sourceRoot`);
  // The sources are not in the package: a debugger shows the copy in the map.
  if (map.sourcesContent?.length !== map.sources.length)
    problems.push(`${file} lacks the text of its sources`);
  return problems;
}
