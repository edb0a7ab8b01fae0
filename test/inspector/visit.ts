import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page, ViewportSize } from 'playwright-core';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Story, startStory } from './story.ts';

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly story: Story;
  /** Messages of the console, errors of scripts, and requests to other servers. */
  readonly problems: string[];
}

/** Opens the page of a new sandbox, after one order. */
export async function visitPage(
  browser: Browser,
  options: SandboxOptions = {},
  size: ViewportSize = { width: 1280, height: 800 },
): Promise<Visit> {
  const story = await startStory(options);
  await story.order('A-1001');
  await story.sandbox.idle();
  const page = await browser.newPage({ viewport: size, locale: 'en-GB' });
  // So that a failure names what is missing, and not only the time.
  page.setDefaultTimeout(15_000);
  const problems: string[] = [];
  page.on(
    'console',
    (message) => message.type() !== 'info' && problems.push(`${message.type()}: ${message.text()}`),
  );
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${story.server.url}/_sandbox/`);
    if (!isOwn && !/^(?:data|blob):/.test(request.url())) problems.push(`asked ${request.url()}`);
  });
  await page.goto(story.server.inspectorUrl);
  await rows(page).first().waitFor();
  return {
    page,
    story,
    problems,
    async [Symbol.asyncDispose]() {
      // Before the server, since the page logs an error when the server goes away.
      await page.close();
      await story[Symbol.asyncDispose]();
    },
  };
}

/** The lines of the traffic: a select has options, too. */
export const rows = (page: Page) => page.getByRole('listbox').getByRole('option');
export const row = (page: Page, ...texts: string[]) =>
  texts.reduce((found, hasText) => found.filter({ hasText }), rows(page)).first();
export const notice = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();
export const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name }).click();

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds on the page as it is shown now, of any impact. */
export async function axeViolations(page: Page) {
  // Through the debugger: the page's own policy would not let it in.
  await page.evaluate(axeSource);
  return await page.evaluate(async () => {
    // Sound: the line above has put it there.
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes.map(({ html }) => html) }));
  });
}
