import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { times } from '../support/repeat.ts';
import { isSkipped, row, rows, useBrowser } from './browser.ts';

const { visit } = useBrowser();

const rowCount = times(2000, 10_000);
const tabCount = times(4, 8);

describe.skipIf(isSkipped)('the inspector', { timeout: 60_000 }, () => {
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

  it(`shares one stream between ${tabCount} tabs, and goes on when the one that reads it is closed or crashes`, async () => {
    const { page, story } = await visit();
    const context = page.context();
    await page.close();
    /** The tabs with an open stream. Over HTTP/1.1 the seventh stream would block every other request. */
    const streaming = new Set<Page>();
    context.on('request', (request) => {
      if (request.url().includes('/trace/stream')) streaming.add(request.frame().page());
    });
    const tabs = await Promise.all(Array.from({ length: tabCount }, () => context.newPage()));
    for (const tab of tabs)
      tab.on('close', () => streaming.delete(tab)).on('crash', () => streaming.delete(tab));
    await Promise.all(tabs.map((tab) => tab.goto(story.server.inspectorUrl)));
    const allShow = async (order: string) => {
      await story.order(order);
      const open = tabs.filter((tab) => !tab.isClosed());
      await Promise.all(open.map((tab) => row(tab, 'event.buy.init', order, '200').waitFor()));
      expect(streaming.size).toBe(1);
      return open.length;
    };
    expect(await allShow('B-1')).toBe(tabCount);
    await [...streaming][0]?.close();
    expect(await allShow('B-2')).toBe(tabCount - 1);
    const [reader] = streaming;
    const crash = reader?.waitForEvent('crash');
    await reader?.goto('chrome://crash').catch(() => {});
    await crash;
    await reader?.close();
    expect(await allShow('B-3')).toBe(tabCount - 2);
  });
});

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
