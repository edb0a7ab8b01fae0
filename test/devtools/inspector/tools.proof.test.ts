import { spawn, spawnSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../support/local-server.ts';
import { inBrowser, notice, row, tab, useBrowser } from './browser.ts';

const { visit } = useBrowser();

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

// On two cores that other tests use, too.
describe('the tools of the page', { timeout: 60_000, ...inBrowser }, () => {
  it('copy a body, and a curl command that sends the same bytes', async () => {
    const { page, story, problems } = await visit();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const receiver = await startServer({ status: 200 });
    const name = `O'Neil "$HOME" \`id\` \\ é`;
    await story.order('A-2', { first_name: name, partner_callback_url: `${receiver.url}/orders?a=b&c=d` });
    await story.sandbox.idle();
    await row(page, 'event.buy.init', 'A-2').click();
    const event = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'Event', exact: true }) });
    await event.getByRole('button', { name: 'Copy body' }).click();
    await notice(page, 'Copied body');
    const [delivery] = story.sandbox.deliveries.slice(-1);
    expect(await clipboard(page)).toBe(delivery?.body);
    await event.getByRole('button', { name: 'Copy as curl' }).click();
    await notice(page, 'Copied as curl');
    const command = await clipboard(page);
    if (spawnSync('curl', ['--version']).status === 0) {
      expect(await run(command, { PATH: process.env.PATH, no_proxy: '*' })).toBe(0);
      const [genuine, sent] = receiver.requests;
      const { authorization } = genuine?.headers ?? {};
      expect(sent).toMatchObject({ url: genuine?.url, headers: { authorization } });
      expect(sent?.body.toString()).toBe(delivery?.body);
    }
    expect(problems).toEqual([]);
  });

  it('keep the rows that are read where they are while others come in', async () => {
    const { page, story } = await visit({}, { width: 1280, height: 300 });
    for (let round = 0; round < 30; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/path/${round}`);
    await page.getByText('34', { exact: true }).waitFor();
    const list = page.getByRole('listbox');
    await list.evaluate((element) => element.scrollTo({ top: 300 }));
    const read = row(page, '/path/15');
    const topOf = async () => Math.round((await read.boundingBox())?.y ?? 0);
    await read.scrollIntoViewIfNeeded();
    const before = await topOf();
    for (let round = 0; round < 5; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/more/${round}`);
    await page.getByText('39', { exact: true }).waitFor();
    await expect.poll(topOf).toBe(before);
  });

  it('say plainly that the sandbox stopped', async () => {
    const { page, story } = await visit();
    await tab(page, /Faults/);
    await page.getByRole('button', { name: 'Clear all' }).waitFor();
    await story.server.close();
    await page.getByRole('button', { name: 'Clear all' }).click();
    await notice(page, 'The sandbox does not answer. Is it still running?');
  });
});

/** The exit code of a shell. */
function run(command: string, env: NodeJS.ProcessEnv): Promise<number | null> {
  return new Promise((resolve) => {
    spawn('sh', ['-c', command], { env, stdio: 'ignore' }).on('close', resolve);
  });
}
