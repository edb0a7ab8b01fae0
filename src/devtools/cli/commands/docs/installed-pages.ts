import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { CliError } from '../../terminal/context.ts';

/** A heading of a page with the text up to the next one. */
export interface PageSection {
  /** Below the package, with the heading: `docs/errors.md#not_configured`. */
  readonly source: string;
  readonly title: string;
  /** The headings above, the title of the page first. */
  readonly path: readonly string[];
  /** In Markdown, the heading included. Links lead from the folder of the package. */
  readonly text: string;
}

/** The folder of the package that this program is a part of: it ships the pages and the declarations. */
export function findPackageFolder(from = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (nameOf(folder) === 'partner-exchange-sdk') return folder;
    if (folder === dirname(folder)) break;
  }
  throw new CliError(
    'The pages are not installed beside this program: add the package with npm, and run `npx partner-exchange-sdk docs` there.',
  );
}

function nameOf(folder: string): string | undefined {
  return readManifestOf(folder)?.name;
}

function readManifestOf(folder: string): { name?: string; files?: readonly string[] } | undefined {
  try {
    // Only a manifest of our own name is read further.
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return;
  }
}

/** The sections of every page that ships, also in a checkout, which has more. */
export function readPages(folder: string): PageSection[] {
  const left = readManifestOf(folder)?.files?.filter((file) => file.startsWith('!')) ?? [];
  const without = left.map((file) => file.slice(1));
  return readdirSync(join(folder, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('docs', file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.md'))
    .filter((file) => !without.some((each) => file === each || file.startsWith(`${each}/`)))
    .toSorted()
    .flatMap((file) => splitPage(file, readFileSync(join(folder, file), 'utf8')));
}

function splitPage(file: string, text: string): PageSection[] {
  const slugs = new Map<string, number>();
  const sections: { source: string; title: string; path: string[]; lines: string[] }[] = [];
  const above: string[] = [];
  let isCode = false;
  for (const line of text.trimEnd().split(/\r?\n/)) {
    if (/^ *```/.test(line)) isCode = !isCode;
    const [, marks = '', heading = ''] = (!isCode && /^(#{1,6}) (.*)$/.exec(line)) || [];
    if (marks !== '') {
      const title = heading.replaceAll('`', '');
      above.splice(marks.length - 1);
      const path = above.filter((each) => each !== undefined);
      above[marks.length - 1] = title;
      const source = marks.length === 1 ? file : `${file}#${slugOf(title, slugs)}`;
      sections.push({ source, title, path, lines: [] });
    }
    sections.at(-1)?.lines.push(isCode ? line : withPathsOfPackage(line, file));
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trimEnd() }));
}

/** The anchor that GitHub gives a heading. */
function slugOf(title: string, used: Map<string, number>): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
  const times = used.get(slug) ?? 0;
  used.set(slug, times + 1);
  return times === 0 ? slug : `${slug}-${times}`;
}

/** A link then is what `docs` takes. */
function withPathsOfPackage(line: string, file: string): string {
  return line.replace(/\]\((?!\w+:)([^)\s#]*)(#[^)\s]*)?\)/g, (_, path: string, heading = '') => {
    const target = path === '' ? file : posix.join(posix.dirname(file), path);
    return `](${target}${heading})`;
  });
}
