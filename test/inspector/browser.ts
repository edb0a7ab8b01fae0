import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Locator, type Page, type ViewportSize } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { startStory } from './story.ts';

const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // Dates and numbers the same on every machine.
  '--lang=en-GB',
  // Each sandbox is another origin, for which this policy of the page makes Chromium start another process. The others
  // are those that Playwright disables for the sake of tests like ours: the last switch counts.
  '--disable-features=CrossOriginOpenerPolicy,PaintHolding,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
];

/** The system's Chromium, or `undefined` where there is none. */
const chromiumPath = findChromium();

/** Without a browser, tests of the page are skipped, except in CI. */
export const isSkipped = chromiumPath === undefined && process.env.CI !== 'true' && process.env.CI !== '1';

if (isSkipped) console.warn('Skipping the tests of the inspector page: there is no chromium.');

/** A browser for the tests of a file. They share one page, because a new one takes a second. */
export function useBrowser() {
  let launched: Promise<Browser> | undefined;
  let page: Page | undefined;
  let home = '';
  let problems: string[] = [];
  afterAll(async () => (await launched)?.close());

  async function openPage(): Promise<Page> {
    launched ??= chromium.launch({ ...(chromiumPath && { executablePath: chromiumPath }), args: flags });
    const context = await (await launched).newContext({ locale: 'en-GB' });
    // So that a failure names what is missing, and not only the time.
    context.setDefaultTimeout(15_000);
    const opened = await context.newPage();
    opened.on('console', (message) => {
      if (message.type() !== 'info') problems.push(`${message.type()}: ${message.text()}`);
    });
    opened.on('pageerror', ({ message }) => problems.push(message));
    opened.on('request', (request) => {
      const isOwn = request.url().startsWith(home) || /^(?:data|blob):/.test(request.url());
      if (!isOwn) problems.push(`asked ${request.url()}`);
    });
    return opened;
  }

  /** Shows an inspector. `problems` are messages of the console, errors of scripts, and requests to other servers. */
  async function show(address: string, size: ViewportSize = { width: 1280, height: 800 }) {
    const shown = page === undefined || page.isClosed() ? await openPage() : page;
    page = shown;
    // What it showed before asks its own server until it is left.
    await shown.goto('about:blank');
    home = address.replace(/#.*/, '');
    problems = [];
    await shown.setViewportSize(size);
    await shown.emulateMedia({ colorScheme: null });
    await shown.goto(address);
    return { page: shown, problems };
  }

  /** Shows a new sandbox, after one order. */
  async function visit(options: SandboxOptions = {}, size?: ViewportSize) {
    const story = await startStory(options);
    onTestFinished(() => story[Symbol.asyncDispose]());
    await story.order('A-1001');
    await story.sandbox.idle();
    const { page, problems } = await show(story.server.inspectorUrl, size);
    await rows(page).first().waitFor();
    return { page, problems, story };
  }

  return { show, visit };
}

/** The lines of the traffic: a select has options, too. */
export const rows = (page: Page) => page.getByRole('listbox').getByRole('option');
export const row = (page: Page, ...texts: string[]) =>
  texts.reduce((found, hasText) => found.filter({ hasText }), rows(page)).first();
export const notice = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();
export const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name }).click();

/** Presses a key several times before the page can draw. */
export const pressAtOnce = (field: Locator, key: string, times: number) =>
  field.evaluate(
    (element, { key, times }) => {
      for (let count = 0; count < times; count++)
        element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    },
    { key, times },
  );

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(options: { runOnly?: string[] }): Promise<{
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  }>;
}

/** What axe finds on the page as it is shown now, light and dark, of any impact. */
export async function axeViolations(page: Page) {
  // Through the debugger: the page's own policy would not let it in.
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(axeSource);
  const found = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // In the dark only the colours differ.
    const options = colorScheme === 'light' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] };
    const violations = await page.evaluate((options) => {
      // Sound: it was put there above.
      const { axe } = window as unknown as { axe: Axe };
      return axe.run(options).then((results) => results.violations);
    }, options);
    for (const { id, impact, nodes } of violations)
      found.push({ colorScheme, id, impact, html: nodes.map(({ html }) => html) });
  }
  return found;
}

function findChromium(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    } catch {
      // The next name.
    }
  }
  return undefined;
}
