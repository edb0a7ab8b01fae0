import { describe, expect, it } from 'vitest';
import { inBrowser, row, tab, useBrowser } from './browser.ts';

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
