import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceTables } from './tables.ts';

/** Written by `npm run docs:errors`, `docs:commands`, `contract` and `docs:tables`. */
const generated = ['docs/errors.md', 'docs/commands.md', 'docs/events.md', 'docs/details/attack-faults.md'];

/** The most words that the hand-written documents may have. */
export const maxWords = 22_000;

/** The words of each hand-written document, without code, generated tables and the changelog, the longest first. */
export function countWords(root: string): readonly (readonly [file: string, words: number])[] {
  return globSync('{*.md,docs/**/*.md}', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter(
      (file) => file !== 'CHANGELOG.md' && !file.startsWith('docs/reference/') && !generated.includes(file),
    )
    .map((file) => {
      const text = replaceTables(file, readFileSync(join(root, file), 'utf8'), () => '');
      return [file, wordsIn(text)] as const;
    })
    .toSorted(([, one], [, other]) => other - one);
}

function wordsIn(text: string): number {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/\]\([^)]*\)/g, ']');
  return prose.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

if (import.meta.main) {
  const counts = countWords(join(import.meta.dirname, '..', '..'));
  for (const [file, words] of counts) console.log(String(words).padStart(6), file);
  console.log(
    String(counts.reduce((sum, [, words]) => sum + words, 0)).padStart(6),
    `of at most ${maxWords}`,
  );
}
