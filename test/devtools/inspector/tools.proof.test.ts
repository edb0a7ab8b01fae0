import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../support/local-server.ts';
import { scratchFolder } from '../cli/support.ts';
import { inBrowser, notice, row, tab, useBrowser } from './browser.ts';
import { axeViolations } from './chromium.ts';

const { visit } = useBrowser();

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

// On two cores that other tests use, too.
describe('the tools of the page', { timeout: 60_000, ...inBrowser }, () => {
  it('copy a body, headers without keys, and a curl command that sends the same bytes', async () => {
    const { page, story, problems } = await visit();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const receiver = await startServer({ status: 200 });
    const name = `O'Neil "$HOME" \`id\` \\ é`;
    await story.order('A-2', {
      first_name: name,
      partner_callback_url: `${receiver.url}/orders?api_key=hidden`,
    });
    await story.sandbox.idle();
    await row(page, 'event.buy.init', 'A-2').click();
    const event = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'Event', exact: true }) });
    await event.getByRole('button', { name: 'Copy body' }).click();
    await notice(page, 'Copied body');
    const [delivery] = story.sandbox.deliveries.slice(-1);
    expect(await clipboard(page)).toBe(delivery?.body);
    await event.getByRole('button', { name: 'Copy headers' }).click();
    await notice(page, 'Copied headers: without authorization');
    expect(await clipboard(page)).toBe('content-type: application/json');
    await event.getByRole('button', { name: 'Copy as curl' }).click();
    await notice(page, 'Copied as curl: without authorization, the query');
    const command = await clipboard(page);
    expect(command).toContain('# Set AUTHORIZATION first');
    expect(command).not.toContain(story.credentials.partnerPublicKey);
    expect(command.split('\n').at(-1)).toBe(`  '${receiver.url}/orders?api_key=[redacted]'`);
    if (spawnSync('curl', ['--version']).status === 0) {
      const env = { PATH: process.env.PATH, no_proxy: '*', AUTHORIZATION: 'Bearer mine' };
      expect(await run(command.replace('[redacted]', 'x'), env)).toBe(0);
      const sent = receiver.requests.at(-1);
      expect(sent).toMatchObject({ url: '/orders?api_key=x', headers: { authorization: 'Bearer mine' } });
      expect(sent?.body.toString()).toBe(delivery?.body);
    }
    expect(problems).toEqual([]);
  });

  it('send an edited event: refused under its old signature, taken when it is signed again', async () => {
    const { page, story, problems } = await visit();
    await row(page, 'event.buy.init').click();
    await page.getByText('Edit and send again').click();
    const body = page.getByLabel('Body');
    await body.fill((await body.inputValue()).replace('15000.50', '77.00'));
    const headers = page.getByLabel('Headers');
    await headers.fill(`${await headers.inputValue()}\nx-trial: yes`);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Post the copy' }).click();
    await notice(page, 'Sent the copy: answered with 401');
    await page.getByLabel('Signature').selectOption('renew');
    await page.getByRole('button', { name: 'Post the copy' }).click();
    await notice(page, 'Sent the copy: answered with 200');
    expect(story.sandbox.trace.entries.findLast(({ kind }) => kind === 'event')).toMatchObject({
      headers: { 'x-trial': 'yes' },
      body: expect.stringContaining('77.00'),
      faults: [],
    });
    await headers.fill('no colon');
    await page.getByRole('button', { name: 'Post the copy' }).click();
    await notice(page, 'Write each header as "name: value"');
    // A partner's request, signed with the partner's key.
    await row(page, 'createOrder').click();
    await page.getByText('Edit and send again').click();
    await body.fill((await body.inputValue()).replace('A-1001', 'A-3003'));
    await page.getByLabel('Signature').selectOption('renew');
    await page.getByRole('button', { name: 'Send the copy' }).click();
    await notice(page, 'Sent the copy: answered with 200');
    expect(story.sandbox.order('A-3003').state).toBe('created');
    expect(problems).toEqual([]);
  });

  it('say how many rows are new while others are read, and go to them', async () => {
    const { page, story } = await visit({}, { width: 1280, height: 300 });
    for (let round = 0; round < 30; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/path/${round}`);
    await page.getByText('34', { exact: true }).waitFor();
    const list = page.getByRole('listbox');
    await list.evaluate((element) => element.scrollTo({ top: 300 }));
    const shown = () => list.evaluate((element) => element.scrollHeight - element.scrollTop);
    const before = await shown();
    for (let round = 0; round < 5; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/more/${round}`);
    const pill = page.getByRole('button', { name: '5 new' });
    await pill.waitFor();
    // The rows that are read stay where they are.
    expect(await shown()).toBe(before);
    expect(await axeViolations(page)).toEqual([]);
    await pill.click();
    await row(page, '/more/4').waitFor();
    await expect.poll(() => pill.count()).toBe(0);
    await story.sandbox.fetch('https://sandbox.localhost/last');
    await row(page, '/last').waitFor();
    expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0);
  });

  it('give the traffic as JSON by a link', async () => {
    const { page, story, problems } = await visit();
    const link = page.getByRole('link', { name: 'JSON' });
    expect(await link.getAttribute('href')).toBe('trace');
    const downloading = page.waitForEvent('download');
    await link.click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('traffic.json');
    const path = join(scratchFolder(), 'traffic.json');
    await download.saveAs(path);
    const { entries } = JSON.parse(readFileSync(path, 'utf8'));
    expect(entries).toHaveLength(story.sandbox.trace.entries.length);
    await notice(page, 'Saved the traffic');
    expect(problems).toEqual([]);
  });

  it('set rates, and say plainly that the sandbox stopped', async () => {
    const { page, story } = await visit();
    const { faults } = story.sandbox;
    await tab(page, /Faults/);
    await page.getByLabel('Fault of the rate').selectOption('duplicate');
    await page.getByLabel('Per cent').fill('12.5');
    await page.getByRole('button', { name: 'Set the rate' }).click();
    await notice(page, 'Set the rate of duplicate to 12.5 %');
    await page.getByText('12.5 %').first().waitFor();
    expect(faults.list()).toEqual([{ target: 'event', fault: 'duplicate', rate: 0.125 }]);
    await story.server.close();
    await page.getByRole('button', { name: 'Set the rate' }).click();
    await notice(page, 'The sandbox does not answer. Is it still running?');
  });
});

/** The exit code of a shell. */
function run(command: string, env: NodeJS.ProcessEnv): Promise<number | null> {
  return new Promise((resolve) => {
    spawn('sh', ['-c', command], { env, stdio: 'ignore' }).on('close', resolve);
  });
}
