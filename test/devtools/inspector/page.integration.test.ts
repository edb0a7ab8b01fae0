import { describe, expect, it } from 'vitest';
import { startServer } from '../../support/local-server.ts';
import { inBrowser, row, rows, tab, useBrowser } from './browser.ts';

const { visit } = useBrowser();

// On two cores that other tests use, too.
describe('the inspector', { timeout: 60_000, ...inBrowser }, () => {
  it('shows what happens while it is open, without an error or a request to elsewhere', async () => {
    const { page, story, problems } = await visit();
    expect(page.url()).toBe(`${story.server.url}/_sandbox/`);
    await story.order('B-2002');
    await row(page, 'createOrder', 'B-2002', '200').waitFor();
    await row(page, 'event.buy.init', 'B-2002', '200').waitFor();
    await tab(page, /Orders/);
    await row(page, 'B-2002', 'created').waitFor();
    for (const name of [/Outbox/, /Faults/, /Traffic/]) await tab(page, name);
    await row(page, 'event.buy.init', 'B-2002').click();
    await page.getByText('The signature holds').waitFor();
    expect(problems).toEqual([]);
  });

  it('shows an accepted forgery as failed and a refused one as good, and says what to do about a refused event', async () => {
    const { page, story } = await visit();
    // One receiver accepts everything, the other refuses everything.
    const receivers = await Promise.all([startServer({ status: 200 }), startServer({ status: 401 })]);
    for (const [index, { url }] of receivers.entries()) {
      await story.order(`R-${index}`, { partner_callback_url: `${url}/orders` });
      await story.sandbox.idle();
      await story.api(`deliveries/delivery-${2 * index + 2}/post`, { as: 'forged' });
    }
    const status = (...texts: string[]) =>
      row(page, ...texts)
        .locator('.pill')
        .last();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('failed');
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await status('R-0', 'forged', '200').getAttribute('class')).toBe('pill bad');
    expect(await status('R-1', '401').getAttribute('class')).toBe('pill bad');
    await row(page, 'R-0', 'forged').click();
    await page.getByText('The receiver accepted a forged event').waitFor();
    await row(page, 'R-1').click();
    await page.getByText('A genuine event was refused').waitFor();
    await page.getByText(`"partner-exchange attack ${receivers[1]?.url}/orders"`).waitFor();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('all');
    expect(await status('R-1', 'forged', '401').getAttribute('class')).toBe('pill good');
    await row(page, 'R-1', 'forged').click();
    await page.getByText('The receiver refused a forged event, as it should').waitFor();
    expect(await page.getByText('A genuine event was refused').count()).toBe(0);
  });

  it('shows text of strangers as text, wherever it comes from', async () => {
    const { page, story, problems } = await visit();
    const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    await story.order(evil, { first_name: evil });
    await fetch(`${story.server.url}/${encodeURIComponent(evil)}?${evil}`, { headers: { 'x-evil': evil } });
    await row(page, 'createOrder', evil).click();
    await page.getByRole('article').getByText(evil).first().waitFor();
    await page.getByRole('button', { name: `Order ${evil}` }).click();
    await page.getByRole('heading', { name: evil }).waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(problems).toEqual([]);
    // Also the platform forbids it, if ever the page tried.
    const forbidden = await page.evaluate(() => {
      try {
        document.body.innerHTML = '<p>x</p>';
        return false;
      } catch {
        return true;
      }
    });
    expect(forbidden).toBe(true);
  });
});
