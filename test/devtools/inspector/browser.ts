import type { Browser, Locator, Page, ViewportSize } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { skipped } from '../../support/skipped.ts';
import { chromiumPath, launchChromium } from './chromium.ts';
import { startStory } from './story.ts';

const isInCi = process.env.CI === 'true' || process.env.CI === '1';
/** Options of the tests of the page: without a browser they are skipped, except in CI. */
export const inBrowser = skipped(chromiumPath === undefined && !isInCi && 'there is no chromium');

/** A browser for the tests of a file. They share one page, because a new one takes a second. */
export function useBrowser() {
  let launched: Promise<Browser> | undefined;
  let page: Page | undefined;
  let home = '';
  let problems: string[] = [];
  afterAll(async () => (await launched)?.close());

  async function openPage(): Promise<Page> {
    launched ??= launchChromium();
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
export const tab = (page: Page, name: RegExp) =>
  page.getByRole('navigation').getByRole('link', { name }).click();

/** Presses a key several times before the page can draw. */
export const pressAtOnce = (field: Locator, key: string, times: number) =>
  field.evaluate(
    (element, { key, times }) => {
      for (let count = 0; count < times; count++)
        element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    },
    { key, times },
  );
