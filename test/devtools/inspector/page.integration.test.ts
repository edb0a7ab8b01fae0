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
});
