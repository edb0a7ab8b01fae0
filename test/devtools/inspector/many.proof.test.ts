import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { times } from '../../support/repeat.ts';
import { inBrowser, row, rows, useBrowser } from './browser.ts';

const { visit } = useBrowser();

const requestCount = times(2000, 5000);
const tabCount = times(4, 8);

describe('the inspector', { timeout: 120_000, ...inBrowser }, () => {
  it(`stays fluent at ${requestCount} requests: it draws the last 500, and a search finds the others`, async () => {
    const { page, story } = await visit({ maxRemembered: 25_000 });
    const cpuSeconds = await cpuMeter(page);
    const before = await cpuSeconds();
    for (let round = 0; round < requestCount; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/path/${round}`);
    await row(page, `/path/${requestCount - 1}`, '404').waitFor();
    await page.getByText('the last 500').waitFor();
    const perRequest = ((await cpuSeconds()) - before) / requestCount;
    console.log(`${(perRequest * 1000).toFixed(2)} ms of the page's CPU for each request`);
    expect(await rows(page).count()).toBe(500);
    const perFrame = await scrollToEnd(page, cpuSeconds);
    console.log(`${perFrame.toFixed(1)} ms of the page's CPU for each frame of scrolling`);
    // CPU, since the time of a frame depends on other programs: 34 ms would be two frames of a screen.
    expect(perFrame).toBeLessThan(34);
    await page.getByRole('searchbox').fill('/path/17 404');
    await row(page, '/path/17').waitFor();
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

/** The CPU seconds of the page so far. */
async function cpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
}

/** Scrolls through the list, and returns the CPU milliseconds of the page for one frame. */
async function scrollToEnd(page: Page, cpuSeconds: () => Promise<number>): Promise<number> {
  const before = await cpuSeconds();
  const frames = await page.getByRole('listbox').evaluate(
    (element) =>
      new Promise<number>((resolve) => {
        let frames = 0;
        const step = () => {
          frames++;
          element.scrollTop += 500;
          const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
          if (isAtEnd) resolve(frames);
          else requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
  );
  return (((await cpuSeconds()) - before) * 1000) / frames;
}
