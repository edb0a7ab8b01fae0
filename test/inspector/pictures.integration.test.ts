import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isSkipped, launch } from './chromium.ts';
import { sendMessages } from './story.ts';
import { row, tab, visitPage } from './visit.ts';

/** `npm run docs:pictures`. They are no test: a picture differs between machines. */
const isWanted = process.env.DOCS_PICTURES !== undefined;
const folder = new URL(process.env.DOCS_PICTURES || '../../docs/images/', import.meta.url);

function save(name: string, image: Uint8Array): void {
  expect([name, image.length < 250_000 && image.length > 5000]).toEqual([name, true]);
  writeFileSync(fileURLToPath(new URL(`${name}.png`, folder)), image);
}

/** Runs in the page. The keys open a sandbox alone, and readers should still not copy them. */
function maskKeys(): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = node.nodeValue ?? '';
    const masked = text.replaceAll(/(API-X-|MASTER-\w*-?|one-time\/|Bearer \S{4})[\w-]{8,}/g, '$1…');
    if (masked !== text) node.nodeValue = masked;
  }
}

it.skipIf(!isWanted || isSkipped)('makes the pictures of the inspector', { timeout: 120_000 }, async () => {
  const browser = await launch();
  await using visited = await visitPage(browser);
  const { page, story } = visited;
  const { sandbox } = story;
  sandbox.faults.next('event.buy.received.fiat', 'tampered');
  await sandbox.play('A-1001', 'happy');
  await story.order('A-1002', { fiat_amount: '820', fiat_currency: 'GHS' });
  sandbox.faults.next('createOrder', 'reply_lost');
  await story.order('A-1003').catch(() => {});
  await sandbox.idle();
  await sandbox.advance('A-1003', 'no_kyc');
  await sendMessages(story, [
    ['+233201112222', 'Your code is 1177.'],
    ['+2348012345678', 'Your code is 482913. It is valid for 5 minutes.'],
    ['+2348012345678', 'Order A-1001 is credited.'],
  ]);
  await story.exchange.regenerateKeys({ partner_code: 'acme', email: 'dev@acme.example' });
  const picture = async (name: string, themes: readonly ('light' | 'dark')[] = ['light']) => {
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(maskKeys);
      save(`inspector-${name}${colorScheme === 'dark' ? '-dark' : ''}`, await page.screenshot());
    }
    await page.emulateMedia({ colorScheme: 'light' });
  };
  await row(page, 'regenerateKeys').waitFor();
  await page.setViewportSize({ width: 1160, height: 560 });
  await picture('traffic', ['light', 'dark']);
  await row(page, 'tampered').click();
  await page.getByText('What differs').waitFor();
  await picture('signature');
  await tab(page, /Orders/);
  await page.getByRole('button', { name: /^A-1003/ }).waitFor();
  await picture('orders');
  await page.getByRole('button', { name: /^A-1003/ }).click();
  await page.getByText('event.buy.received.fiat_kyc_error').waitFor();
  await picture('order');
  await tab(page, /Messages/);
  await page.getByText('482913', { exact: true }).waitFor();
  await picture('messages');
  await tab(page, /Mails/);
  await page.getByText('not opened').waitFor();
  await picture('mails');
  sandbox.faults.scenario('attacked');
  sandbox.faults.next('createOrder', 'reset');
  await tab(page, /Faults/);
  await page.getByText('next createOrder').waitFor();
  await picture('faults');
  await page.setViewportSize({ width: 375, height: 720 });
  await tab(page, /Traffic/);
  await page.keyboard.press('Escape');
  await row(page, 'regenerateKeys').waitFor();
  await picture('narrow');
  await browser.close();
});
