import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { notPromised, type PromisedPages, promises } from '../documents/promises.ts';

/** A part of a page whose sentences promise something. */
interface PromisePart {
  readonly page: string;
  /** The sentences that need a test: all, or those with a word that promises. */
  readonly needTests: 'all' | 'with a word';
  /** The text of the part. */
  readonly of: (page: string) => string;
}

/** A sentence of the README or of the top of a guide that has one of these promises something. */
const promisingWords = [
  ...['never', 'nothing', 'nobody', 'always', 'every', 'twice', 'once'],
  ...['lose', 'loses', 'lost', 'drops', 'dropped', 'survive', 'survives'],
];

const guides = (root: string) =>
  readdirSync(join(root, 'docs/guides'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/guides/${name}`);

function partsOf(root: string): PromisePart[] {
  return [
    { page: 'docs/details/security.md', needTests: 'all', of: guarantees },
    { page: 'README.md', needTests: 'with a word', of: (text) => text },
    ...guides(root).map((page): PromisePart => ({ page, needTests: 'with a word', of: beforeHeadings })),
  ];
}

/** The items of the list below "Guarantees". */
function guarantees(page: string): string {
  const section = page.split(/^## /m).find((text) => text.startsWith('Guarantees')) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .join('\n');
}

function beforeHeadings(page: string): string {
  return page.split(/^## /m)[0] ?? '';
}

/** The sentences of a page as a reader sees them: without code, tables, headings, links and marks of emphasis. */
export function sentencesOf(text: string): string[] {
  return text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split('\n')
    .filter((line) => !/^(?:#|\||!\[)/.test(line))
    .map((line) => line.replace(/^[-*] |^\d+\. /, ''))
    .map((line) => line.replaceAll(/\[([^\]]*)\]\([^)]*\)|<[^>]+>|\*\*/g, '$1'))
    .flatMap((line) => line.split(/(?<=[.!?])\s+(?=[A-Z`])/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

function isPromising(sentence: string): boolean {
  const words = new Set(sentence.toLowerCase().split(/[^a-z]+/));
  return promisingWords.some((word) => words.has(word));
}

/** Promises without a test, and rows of the table that no page or no test has any more. */
export function findPromiseProblems(root: string, pages: PromisedPages = promises): string[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const parts = partsOf(root);
  const problems = parts.flatMap(({ page, needTests, of }) => {
    const found = sentencesOf(of(read(page)));
    const needed = needTests === 'all' ? found : found.filter(isPromising);
    const kept = Object.keys(pages[page] ?? {});
    const rows = [...kept, ...(notPromised[page] ?? [])];
    return [
      ...needed
        .filter((sentence) => !rows.includes(sentence))
        .map((sentence) => `${page} promises without a test in tools/documents/promises.ts: ${sentence}`),
      ...rows
        .filter((row) => !found.includes(row))
        .map((row) => `tools/documents/promises.ts has a sentence that ${page} does not have: ${row}`),
    ];
  });
  const known = new Set(parts.map(({ page }) => page));
  const strangers = [...Object.keys(pages), ...Object.keys(notPromised)].filter((page) => !known.has(page));
  const named = Object.values(pages).flatMap((page) => Object.values(page ?? {}).flat());
  const missing = named.filter(([file, name]) => !hasTest(read, file, name));
  return [
    ...problems,
    ...strangers.map((page) => `tools/documents/promises.ts names ${page}, whose promises nobody looks for`),
    ...missing.map(
      ([file, name]) => `tools/documents/promises.ts names a test that ${file} does not have: ${name}`,
    ),
  ];
}

/** Whether a file has a test, or a group of tests, with this name. */
function hasTest(read: (file: string) => string, file: string, name: string): boolean {
  try {
    const text = read(file);
    return ["'", '"', '`'].some(
      (quote) => text.includes(`(${quote}${name}${quote},`) || text.includes(`\n${quote}${name}${quote},`),
    );
  } catch {
    return false;
  }
}
