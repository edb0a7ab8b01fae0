import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { times } from '../../support/repeat.ts';
import { inBrowser, row, rows, useBrowser } from './browser.ts';

const { visit } = useBrowser();

const rowCount = times(2000, 10_000);
const tabCount = times(4, 8);

describe('the inspector', { timeout: 60_000, ...inBrowser }, () => {
  it(`scrolls through ${rowCount} entries smoothly, with a few of them in the document`, async () => {
    const { page, story } = await visit({ maxRemembered: 25_000 });
    const list = page.getByRole('listbox');
    for (let round = 0; round < rowCount; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/path/${round}`);
    await page.getByText(String(rowCount + 4), { exact: true }).waitFor();
    const cpuMs = await scrollToEnd(page);
    console.log(`${rowCount} rows: ${cpuMs.toFixed(1)} ms of the page's CPU for each frame`);
    // CPU, since the time of a frame depends on other programs: 34 ms would be two frames of a screen.
    expect(cpuMs).toBeLessThan(34);
    await row(page, 'onboard').waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    // What comes in at the top does not move what is looked at.
    const first = await rows(page).last().textContent();
    const top = await list.evaluate((element) => element.scrollHeight - element.scrollTop);
    await story.sandbox.fetch('https://sandbox.localhost/one-more');
    await page.getByText(String(rowCount + 5), { exact: true }).waitFor();
    await expect.poll(() => list.evaluate((element) => element.scrollHeight - element.scrollTop)).toBe(top);
    expect(await rows(page).last().textContent()).toBe(first);
    await page.getByRole('searchbox').fill('path/177 404');
    await expect.poll(() => rows(page).count()).toBeLessThan(60);
    await row(page, '/path/1779').waitFor();
  });

  it(`streams to ${tabCount} tabs of which one is shown, and each catches up when it is shown`, async () => {
    const { page, story } = await visit();
    const context = page.context();
    await page.close();
    /** The tabs with an open stream. Over HTTP/1.1 the seventh stream would block every other request. */
    const streaming = new Set<Page>();
    context.on('request', (request) => {
      if (request.url().includes('/trace/stream')) streaming.add(request.frame().page());
    });
    context.on('requestfailed', (request) => {
      if (request.url().includes('/trace/stream')) streaming.delete(request.frame().page());
    });
    const tabs: Page[] = [];
    for (let count = 0; count < tabCount; count++) {
      const tab = await context.newPage();
      await tab.goto(story.server.inspectorUrl);
      await row(tab, 'event.buy.init', 'A-1001', '200').waitFor();
      await setHidden(tab, true);
      tabs.push(tab);
    }
    await expect.poll(() => streaming.size).toBe(0);
    await story.order('B-1');
    for (const tab of tabs) {
      expect(await row(tab, 'B-1').count()).toBe(0);
      await setHidden(tab, false);
      await row(tab, 'event.buy.init', 'B-1', '200').waitFor();
      await expect.poll(() => [...streaming]).toEqual([tab]);
      await setHidden(tab, true);
      await expect.poll(() => streaming.size).toBe(0);
    }
  });
});

/** Hides a tab or shows it, as the page sees it: Playwright shows every page. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}

/** Scrolls through the list, and returns the CPU milliseconds of the page for one frame. */
async function scrollToEnd(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpuSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  const before = await cpuSeconds();
  const frames = await page.getByRole('listbox').evaluate(
    (element) =>
      new Promise<number>((resolve) => {
        let frames = 0;
        const step = () => {
          frames++;
          element.scrollTop += 2000;
          const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
          if (isAtEnd) resolve(frames);
          else requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
  );
  return (((await cpuSeconds()) - before) * 1000) / frames;
}
