import type { PageSection } from './installed-pages.ts';
import type { Declaration } from './shipped-declarations.ts';

export interface DocsResult {
  readonly kind: 'error' | 'event' | 'command' | 'option' | 'section' | 'page';
  readonly title: string;
  /** The words that find this result alone: a page with its heading, or a name. */
  readonly source: string;
  readonly text: string;
}

/** The pages that have a section for each name. */
const pagesOfNames = {
  'docs/errors.md': 'error',
  'docs/events.md': 'event',
  'docs/commands.md': 'command',
} as const satisfies Record<string, DocsResult['kind']>;

/** A name is looked for in these, in this order. */
const kinds: readonly DocsResult['kind'][] = Object.values(pagesOfNames);

/** Sections that full text finds, at most. */
const most = 6;

/** Results for these words, the best one first: what has this very name, then the sections that have the words. */
export function searchDocs(
  words: readonly string[],
  { pages, declarations }: { pages: readonly PageSection[]; declarations: () => readonly Declaration[] },
): DocsResult[] {
  const query = words.join(' ').trim();
  const linked = findLinked(query === '' ? 'docs/README.md' : query, pages);
  if (linked.length > 0) return linked;
  const named = [
    ...findNamed(query, pages),
    ...(/\s/.test(query) ? [] : findDeclared(query, declarations())),
  ];
  const sources = new Set(named.map(({ source }) => source));
  return [...named, ...rankSections(query, pages).filter(({ source }) => !sources.has(source))];
}

/** Every name that is looked for first, to propose the one that was meant. */
export function searchableNames(
  pages: readonly PageSection[],
  declarations: readonly Declaration[],
): string[] {
  const titles = pages.filter((section) => kindOf(section) !== 'section').map(({ title }) => title);
  return [...titles, ...declarations.map(({ name, member }) => member ?? name)];
}

/** A page or a section by its link, as pages and messages have it. */
function findLinked(query: string, pages: readonly PageSection[]): DocsResult[] {
  const [, file, heading] = /^(?:\S*\/)?(docs\/[\w./-]+\.md)(#\S+)?$/.exec(query) ?? [];
  if (file === undefined) return [];
  if (heading !== undefined) {
    return pages.filter(({ source }) => source === file + heading).map(resultOf);
  }
  const own = pages.filter(({ source }) => source.split('#')[0] === file);
  const text = own.map((section) => section.text).join('\n\n');
  return own.slice(0, 1).map(({ title }) => ({ kind: 'page', title, source: file, text }));
}

function findNamed(query: string, pages: readonly PageSection[]): DocsResult[] {
  const wanted = query.toLowerCase();
  return pages
    .filter((section) => section.title.toLowerCase() === wanted && kindOf(section) !== 'section')
    .map(resultOf)
    .toSorted((one, other) => orderOf(one) - orderOf(other));
}

function orderOf({ kind }: DocsResult): number {
  return kinds.indexOf(kind);
}

/** Options and exported names. Members that are no options are found with their type: `InboxHealth.open`. */
function findDeclared(query: string, declarations: readonly Declaration[]): DocsResult[] {
  const isOption = ({ name, isOptional }: Declaration) => isOptional || /Options\./.test(name);
  const found = declarations.filter(
    (each) => each.name === query || (each.member === query && isOption(each)),
  );
  return found
    .toSorted((one, other) => Number(isOption(other)) - Number(isOption(one)))
    .map(({ name, entries, code }) => ({
      kind: 'option',
      title: name,
      source: name,
      text: `\`${name}\` of ${entries.map((entry) => `\`${entry}\``).join(', ')}\n\n\`\`\`ts\n${code}\n\`\`\``,
    }));
}

/** Sections by how well they fit (BM25): a word in a heading counts more than in a text, a rare word more than a frequent one. */
function rankSections(query: string, pages: readonly PageSection[]): DocsResult[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const average = pages.reduce((sum, { text }) => sum + text.length, 0) / pages.length;
  // Words that follow each other count again.
  const counters = [...terms.map((term) => [term]), ...(terms.length > 1 ? [terms] : [])].map(counterOf);
  const lowered = pages.map(({ title, path, text }) =>
    [title, path.join(' '), text].map((each) => each.toLowerCase()),
  );
  const hits = counters.map((count) =>
    lowered.map(([title = '', path = '', text = '']) => {
      const length = 0.5 + (0.5 * text.length) / average;
      return 5 * count(title) + 2 * count(path) + count(text) / length;
    }),
  );
  const weights = hits.map((ofTerm) => {
    const having = ofTerm.filter((count) => count > 0).length;
    return Math.log(1 + (pages.length - having + 0.5) / (having + 0.5));
  });
  const scores = pages.map((section, index) => {
    const counts = hits.map((ofTerm) => ofTerm[index] ?? 0);
    const matched = counts.slice(0, terms.length).filter((count) => count > 0).length / terms.length;
    const sum = counts.reduce(
      (total, count, term) => total + ((weights[term] ?? 0) * count) / (count + 1.5),
      0,
    );
    return { section, matched, score: sum * matched ** 2 };
  });
  return scores
    .filter(({ matched }) => matched > 0.5)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ section }) => resultOf(section));
}

const fillers = new Set(
  'a an and are at be by can do does for from how i if in is it my of on or that the this to we what when where which why with you'.split(
    ' ',
  ),
);

function termsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const telling = words.filter((word) => !fillers.has(word));
  return [...new Set(telling.length > 0 ? telling : words)];
}

/** How often a text has these words one after the other, each also with another ending. */
function counterOf(words: readonly string[]): (text: string) => number {
  const stems = words.map((word) => (word.length > 4 ? word.replace(/(?:ies|es|s|ing|ed|y|e)$/, '') : word));
  const forms = stems.map((stem) => `${stem}[\\p{L}\\p{N}_]{0,4}`).join('[^\\p{L}\\p{N}_]+');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${forms}(?![\\p{L}\\p{N}_])`, 'gu');
  // Most texts lack a word, which is seen sooner.
  return (text) => (stems.every((stem) => text.includes(stem)) ? (text.match(pattern)?.length ?? 0) : 0);
}

function resultOf(section: PageSection): DocsResult {
  const { title, source, text } = section;
  return { kind: kindOf(section), title, source, text };
}

function kindOf({ source, path }: PageSection): DocsResult['kind'] {
  const page = source.split('#')[0] ?? '';
  const isKnown = (name: string): name is keyof typeof pagesOfNames => Object.hasOwn(pagesOfNames, name);
  return isKnown(page) && path.length > 0 ? pagesOfNames[page] : 'section';
}
