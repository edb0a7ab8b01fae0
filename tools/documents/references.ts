import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { repositoryFiles } from '../checks/entries.ts';

/** Files whose text may point to others: pages, examples, sources, and the declarations that carry doc comments in the package. */
const readFiles = [
  '*.{md,txt}',
  'docs/**/*.md',
  'skills/**/*.md',
  'examples/**/*.{ts,py,php,go,java,rb}',
  'contract/**/*.json',
  'vectors/*.json',
  'src/**/*.{ts,tsx}',
  'dist/*.d.ts',
];

const mentionedPath =
  /(?<![\w./@:-])(?:partner-exchange-sdk\/)?((?:docs|examples|vectors|contract|src|test|tools)\/[\w./*<>{}$-]*[\w*>}])(#[\w-]+)?/g;

/** Links that lead nowhere, and mentioned paths and file names that do not exist, below a checkout or an installed package. */
export function findBrokenReferences(folder: string): string[] {
  const sources = globSync(['*.ts', '{src,test,tools,examples}/**/*.{ts,tsx}'], {
    cwd: folder,
    exclude: ['**/node_modules'],
  });
  const isCheckout = existsSync(join(folder, 'src'));
  // What was built from an earlier checkout says nothing of this one: `check:package` reads the packed declarations.
  const exclude = isCheckout ? ['dist'] : [];
  return globSync(readFiles, { cwd: folder, exclude }).flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const isPage = /\.(?:md|txt)$/.test(file);
    const links = isPage ? relativeLinks(text) : [];
    // These name what their reader is to write: `check:recipes` follows them.
    const isRecipes = file === 'docs/recipes.md';
    const paths = isRecipes ? [] : mentionedPaths(text);
    const names = isPage && isCheckout && !isRecipes ? mentionedSources(text) : [];
    const broken = [
      ...links.filter((link) => !leadsSomewhere(link, { folder, from: file })),
      ...(isPage && isCheckout ? repositoryLinks(text) : []).filter((path) => !isThere(path, folder)),
      ...paths
        .filter((path) => isCheckout || !/^(?:src|test|tools|docs\/images)\//.test(path))
        .filter((path) => !isThere(path, folder)),
      ...names.filter((name) => !sources.some((source) => `/${source}`.endsWith(`/${name}`))),
    ];
    return [...new Set(broken)].map((reference) => `${file}: ${reference}`);
  });
}

/** Targets of links, and of images, that are not on the web. */
function relativeLinks(text: string): string[] {
  return linksOf(text).filter((link) => !/^\w+:/.test(link));
}

/** Paths of the files that a page links in the repository, since the package leaves them out. */
function repositoryLinks(text: string): string[] {
  return linksOf(text)
    .filter((link) => link.startsWith(repositoryFiles))
    .map((link) => link.slice(repositoryFiles.length));
}

function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}

/** Paths of the package or the repository in a text, with their heading. Those with a placeholder are left out. */
function mentionedPaths(text: string): string[] {
  return [...text.matchAll(mentionedPath)]
    .map(([, path = '', heading = '']) => `${path}${heading}`)
    .filter((path) => !/[<>{}$]/.test(path));
}

/** TypeScript files that a page names: `webhooks/receive-outcome.ts`, `reporting.ts`. */
function mentionedSources(text: string): string[] {
  return [...text.matchAll(/`([\w-][\w./-]*\.tsx?)`/g)].map(([, name = '']) => name);
}

interface Place {
  /** The checkout or the installed package. */
  readonly folder: string;
  /** The file that holds the reference, below the folder. */
  readonly from: string;
}

/** Pictures are not packed: in the package their alternative text stands for them. */
const pictures = 'docs/images/';

/**
 * Whether a link leads to a file or folder, and to a heading, that is there, and travels in the package if the page does.
 */
function leadsSomewhere(link: string, { folder, from }: Place): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? from : posix.join(posix.dirname(from), path);
  const isPacked = packedBy(folder);
  if (target.startsWith(pictures))
    return !existsSync(join(folder, 'src')) || existsSync(join(folder, target));
  if (isPacked(from) && !isPacked(target)) return false;
  return hasHeading(join(folder, target), heading);
}

/** Whether npm packs a path, by `files` of package.json. */
function packedBy(folder: string): (path: string) => boolean {
  // Our own file; publint checks its form.
  const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { files: string[] };
  const isBelow = (path: string, each: string) => path === each || path.startsWith(`${each}/`);
  const without = files.filter((each) => each.startsWith('!')).map((each) => each.slice(1));
  // npm packs the first three whatever `files` says.
  const packed = ['README.md', 'LICENSE', 'package.json', ...files];
  return (path) => packed.some((each) => isBelow(path, each)) && !without.some((each) => isBelow(path, each));
}

function isThere(reference: string, folder: string): boolean {
  const [path = '', heading] = reference.split('#');
  if (path.includes('*')) return globSync(path, { cwd: folder }).length > 0;
  return hasHeading(join(folder, path), heading);
}

function hasHeading(file: string, heading: string | undefined): boolean {
  if (!existsSync(file)) return false;
  return heading === undefined || headingsOf(readFileSync(file, 'utf8')).has(heading);
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
