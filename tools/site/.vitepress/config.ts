import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type DefaultTheme, defineConfig, type SiteConfig } from 'vitepress';
import { searchOptions } from '../search-options.ts';

/*
 * The site is made of docs/ as it is: no page is written for it. `npm run docs:site` builds it.
 */

const root = join(import.meta.dirname, '..', '..', '..');
const docs = join(root, 'docs');
// Our own file.
const { homepage, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  homepage: string;
  description: string;
};
/** Where the files are that are no page of the site. */
const repositoryFiles = `${homepage}/blob/main/`;

export default defineConfig({
  // A copy of docs/: Vue is looked for above each page.
  srcDir: 'pages',
  vite: { build: { chunkSizeWarningLimit: 10_000 } },
  rewrites: { 'README.md': 'index.md' },
  title: 'partner-exchange-sdk',
  description,
  lang: 'en',
  lastUpdated: false,
  markdown: {
    // As GitHub and npm make them, which links and messages name: `#outcome_unknown`.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
          .replaceAll(' ', '-'),
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      md.core.ruler.push('links-of-the-site', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href !== null) token.attrSet('href', linkOfSite(href, env.relativePath));
        }
      });
      // Vue would take two braces for an expression.
      for (const rule of ['text', 'code_inline'] as const) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...args) => (render?.(...args) ?? '').replaceAll('{', '&#123;');
      }
    },
  },
  themeConfig: {
    outline: 'deep',
    sidebar: sidebar(),
    search: {
      provider: 'local',
      options: {
        miniSearch: searchOptions,
      },
    },
  },
  buildEnd: writeMarkdown,
});

/** Relative for a page of the site, otherwise an address in the repository. */
function linkOfSite(href: string, page: string): string {
  const own = `${repositoryFiles}docs/`;
  const path = href.startsWith(own) ? href.slice(own.length) : undefined;
  if (path?.includes('.md')) return `/${path.replace(/^README\.md/, 'index.md')}`;
  if (/^(?:\w+:|#)/.test(href)) return href;
  const source = page === 'index.md' ? 'README.md' : page;
  const target = posix.join('docs', posix.dirname(source), href);
  if (!target.startsWith('docs/')) return repositoryFiles + target;
  return `/${target.slice('docs/'.length).replace(/^README\.md/, 'index.md')}`;
}

/** As docs/README.md lists the pages, with each entry of the reference. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const contents = readFileSync(join(docs, 'README.md'), 'utf8');
  const groups = contents
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n', 1);
      const links = section.matchAll(/^- \[([^\]]+)\]\(([^)]+\.md)\)/gm);
      const items = [...links]
        .map(([, text = '', link = '']) => ({ text, link: linkOfSite(link, 'index.md') }))
        .filter(({ link }) => link.startsWith('/'));
      return { text: title.split(':')[0] ?? title, items };
    });
  return [{ text: 'Contents', link: '/' }, ...groups.filter(({ items }) => items.length > 0)];
}

/** Each page as Markdown beside its HTML, the list of pages, and all of them in one file: for programs that read. */
function writeMarkdown({ pages, rewrites, outDir }: SiteConfig): void {
  const all: string[] = [];
  for (const page of pages) {
    const text = readFileSync(join(docs, page), 'utf8');
    const file = join(outDir, rewrites.map[page] ?? page);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (!page.startsWith('reference/')) all.push(`<!-- ${page} -->\n\n${text.trim()}\n`);
  }
  writeFileSync(join(outDir, 'llms-full.txt'), all.join('\n'));
  const llms = join(root, 'llms.txt');
  if (existsSync(llms))
    writeFileSync(join(outDir, 'llms.txt'), readFileSync(llms, 'utf8').replaceAll('](docs/', '](/'));
}
