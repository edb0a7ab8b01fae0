import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { times } from '../../support/repeat.ts';
import { inBrowser, row, rows, useBrowser } from './browser.ts';

const { visit } = useBrowser();

const requestCount = times(2000, 5000);

describe('the inspector', { timeout: 120_000, ...inBrowser }, () => {
  it(`stays fluent at ${requestCount} requests: it draws the last 500`, async () => {
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
  });
});

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
