import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repositoryFiles, root } from '../../tools/checks/entries.ts';
import { countWords, maxWords } from '../../tools/documents/hand-written.ts';
import { llmsText } from '../../tools/documents/llms.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = globSync('docs/**/*.md', { cwd: root }).filter((file) => file !== 'docs/README.md');
const isReference = (file: string) => file.startsWith('docs/reference/');

/** The pages below docs that a text links. */
function listed(text: string, folder: string): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+\.md)\)/g)].map(([, link = '']) =>
    link.startsWith(repositoryFiles) ? link.slice(repositoryFiles.length) : `${folder}${link}`,
  );
}

describe('the contents', () => {
  test('list each page of docs once, in one line that says what it is about', () => {
    const lines = read('docs/README.md').match(/^- .*$/gm) ?? [];
    expect(lines.filter((line) => !/^- \[[^\]]+\]\([^)]+\): \S.{8,}[^.]$/.test(line))).toEqual([]);
    const written = pages.filter((page) => !isReference(page) || page === 'docs/reference/README.md');
    // A page is missing here? Add a line to docs/README.md, then run "npm run docs:llms".
    expect(listed(lines.join('\n'), 'docs/').sort()).toEqual(written.sort());
  });

  test('are the same in llms.txt: npm run docs:llms writes it', () => {
    expect(read('llms.txt')).toBe(llmsText());
    const written = pages.filter((page) => !isReference(page));
    expect(written.filter((page) => !listed(read('llms.txt'), '').includes(page))).toEqual([]);
  });

  test.each(['llms.txt', 'AGENTS.md'])('are shipped in %s, which is shorter than 150 lines', (file) => {
    expect(JSON.parse(read('package.json')).files).toContain(file);
    expect(read(file).split('\n').length).toBeLessThan(150);
  });
});

test('the skill is shipped, names itself as its folder does, says when to use it, and has at most 150 lines', () => {
  const skill = read('skills/partner-exchange/SKILL.md');
  expect(JSON.parse(read('package.json')).files).toContain('skills');
  const [, name, description = ''] = /^---\nname: ([a-z-]+)\ndescription: (.+)\n---\n/.exec(skill) ?? [];
  expect(name).toBe('partner-exchange');
  expect(description).toContain('Use it for');
  // The format allows 1,024 characters.
  expect(description.length).toBeLessThan(1_024);
  expect(skill.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('the hand-written documents stay below their ceiling: node tools/documents/hand-written.ts counts', () => {
  const words = countWords(root).reduce((sum, [, count]) => sum + count, 0);
  expect(words).toBeLessThanOrEqual(maxWords);
  // A ceiling far above the documents holds nothing.
  expect(words).toBeGreaterThan(0.97 * maxWords);
});
