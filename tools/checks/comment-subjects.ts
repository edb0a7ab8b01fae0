import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';

/** A doc comment that begins with one of these words has no subject: it relies on the line above it. */
const beginning = /^[ \t]*\/\*\*\s*(?:\*\s)?(Of|By|With|The same|For)[\s.]/gm;

/**
 * Doc comments of `src` that begin with `Of`, `By`, `With`, `The same` or `For`. A comment begins with a noun (what it is)
 * or a verb (what it does).
 */
export function findCommentsWithoutSubject(
  sources: Readonly<Record<string, string>> = readSources(),
): string[] {
  return Object.entries(sources).flatMap(([file, text]) =>
    [...text.matchAll(beginning)].map(({ index, 1: word }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line}: a comment that begins with "${word}"`;
    }),
  );
}

function readSources(): Record<string, string> {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

if (import.meta.main) {
  const problems = findCommentsWithoutSubject();
  for (const problem of problems) console.error(`${problem}: begin with a noun or a verb`);
  if (problems.length > 0) process.exitCode = 1;
}
