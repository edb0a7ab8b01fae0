import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { orderEventNames } from '../../src/events/event-names.ts';
import { chromiumPath, launchChromium, violationsUnder } from '../../test/devtools/inspector/chromium.ts';
import { commandWords } from '../documents/commands-page.ts';
import { remedies } from '../documents/error-tables.ts';
import { buildSite, siteFolder } from '../site/build-site.ts';
import { searchOptions } from '../site/search-options.ts';
import { startTally } from './tally.ts';

/*
 * Builds the site, which refuses links that lead nowhere, asks its search for every name, and looks at its pages in
 * Chromium. Without a browser the latter is skipped and named; with CI=true it fails.
 */

/** What we use of minisearch, which is installed with the site alone. */
interface SearchModule {
  readonly default: {
    loadJSON(json: string, options: object): { search(query: string): { id: string; title: string }[] };
  };
}

/** Words that are typed into the search, and the page that one of its results leads to. */
const sample = {
  outcome_unknown: '/errors.html#outcome_unknown',
  'event.buy.credited.crypto': '/events.html#eventbuycreditedcrypto',
  'sandbox advance': '/commands.html#sandbox-advance',
  'rotate keys': '/guides/keys.html',
};
/** One of each kind. */
const mainPages = [
  '/',
  '/quick-start.html',
  '/errors.html',
  '/details/security.html',
  '/reference/webhooks.html',
];
const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const tally = startTally();
await tally.check('the site builds, and no link leads nowhere', buildSite);
await tally.check('its search finds each error code, event and command among the first three', searchAll);
await tally.check('each link to a heading leads to one', findAnchors);
await tally.check('each page is there as Markdown too, and all of them in llms-full.txt', findMarkdown);
if (chromiumPath === undefined && process.env.CI !== 'true') console.log('skip  there is no chromium');
else await lookAtPages();
tally.finish();

async function searchAll(): Promise<void> {
  const [chunk = ''] = globSync('assets/chunks/@localSearchIndexroot.*.js', { cwd: siteFolder });
  const library = join(siteFolder, '..', '..', 'node_modules', 'minisearch', 'dist', 'es', 'index.js');
  // Sound: what VitePress wrote, and the version of minisearch that reads it in the page.
  const { default: json } = (await import(pathToFileURL(join(siteFolder, chunk)).href)) as {
    default: string;
  };
  const { default: MiniSearch } = (await import(pathToFileURL(library).href)) as SearchModule;
  const index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: searchOptions.searchOptions,
    ...searchOptions.options,
  });
  const codes = Object.values(remedies).flatMap((own) => Object.keys(own));
  const names = [...codes, ...orderEventNames, ...(await commandWords())];
  const missed = names.filter(
    (name) =>
      !index
        .search(name)
        .slice(0, 3)
        .some(({ id, title }) => title === name && /^\/(?:errors|events|commands)\./.test(id)),
  );
  if (missed.length > 0) throw new Error(`not found: ${missed.join(', ')}`);
}

/** Links to headings, which VitePress does not check. */
function findAnchors(): void {
  const pages = globSync('**/*.html', { cwd: siteFolder });
  const texts = new Map(pages.map((file) => [`/${file}`, readFileSync(join(siteFolder, file), 'utf8')]));
  const broken = [...texts].flatMap(([page, html]) => {
    const links = html.matchAll(/ href="(\/[^"#]*)?#([^"]+)"/g);
    return [...links]
      .filter(
        ([, path = page, anchor]) =>
          !texts.get(path.replace(/\/$/, '/index.html'))?.includes(` id="${anchor}"`),
      )
      .map(([link]) => page + link);
  });
  if (broken.length > 0) throw new Error(broken.join('\n'));
}

function findMarkdown(): void {
  const files = globSync('**/*.{html,md,txt}', { cwd: siteFolder });
  const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html');
  const alone = pages.filter((file) => !files.includes(file.replace(/html$/, 'md')));
  if (alone.length > 0 || pages.length < 50) throw new Error(`of ${pages.length} pages: ${alone.join(', ')}`);
  const all = readFileSync(join(siteFolder, 'llms-full.txt'), 'utf8');
  for (const title of ['# Quick start', '# Commands', '# Keys']) {
    if (!all.includes(`\n${title}\n`)) throw new Error(`llms-full.txt lacks ${title}`);
  }
}

async function lookAtPages(): Promise<void> {
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://site').pathname);
    try {
      const body = readFileSync(join(siteFolder, path.endsWith('/') ? `${path}index.html` : path));
      response.setHeader('content-type', contentTypes[extname(path)] ?? 'text/html');
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end(readFileSync(join(siteFolder, '404.html')));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Sound: it listens on a port, not on a pipe.
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    for (const [words, address] of Object.entries(sample)) {
      await tally.check(`searching for ${words} opens ${address}`, () =>
        searchInPage(page, site, words, address),
      );
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const path of mainPages) {
        await tally.check(`axe finds nothing on ${path}, ${colorScheme}`, async () => {
          await page.goto(site + path);
          // The page sets it by a script.
          await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
          const violations = await violationsUnder(page, colorScheme);
          if (violations.length > 0) throw new Error(JSON.stringify(violations, null, 2).slice(0, 3_000));
        });
      }
    }
    await tally.check('no page is wider than a telephone of 375 px', () => findWidePages(page, site));
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
}

async function searchInPage(page: Page, site: string, words: string, address: string): Promise<void> {
  await page.goto(`${site}/assumptions.html`);
  await page.getByRole('button', { name: 'Search' }).first().click();
  await page.getByRole('searchbox').fill(words);
  await page.locator(`.results a[href*="${address}"]`).first().click();
  await page.waitForURL((url) => url.href.includes(address));
}

async function findWidePages(page: Page, site: string): Promise<void> {
  await page.setViewportSize({ width: 375, height: 800 });
  const wide: string[] = [];
  for (const path of globSync('**/*.html', { cwd: siteFolder })) {
    await page.goto(`${site}/${path}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 375) wide.push(`${path} ${width}`);
  }
  if (wide.length > 0) throw new Error(wide.join(', '));
}
