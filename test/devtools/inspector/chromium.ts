import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // Dates and numbers the same on every machine.
  '--lang=en-GB',
  // Each sandbox is another origin, for which this policy of the page makes Chromium start another process. The others
  // are those that Playwright disables for the sake of tests like ours: the last switch counts.
  '--disable-features=CrossOriginOpenerPolicy,PaintHolding,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
];

/** The system's Chromium, or `undefined` where there is none. */
export const chromiumPath = findChromium();

/** @returns a new browser */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ ...(chromiumPath && { executablePath: chromiumPath }), args: flags });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(options: { runOnly?: string[] }): Promise<{
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  }>;
}

/** What axe finds on the page as it is shown now, light and dark, of any impact. */
export async function axeViolations(page: Page) {
  return [...(await violationsUnder(page, 'light')), ...(await violationsUnder(page, 'dark'))];
}

/** What axe finds under one colour scheme. In the dark only the colours differ. */
export async function violationsUnder(page: Page, colorScheme: 'light' | 'dark') {
  // Through the debugger: the page's own policy would not let it in.
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(axeSource);
  await page.emulateMedia({ colorScheme });
  const options = colorScheme === 'light' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] };
  const violations = await page.evaluate((options) => {
    // Sound: it was put there above.
    const { axe } = window as unknown as { axe: Axe };
    return axe.run(options).then((results) => results.violations);
  }, options);
  return violations.map(({ id, impact, nodes }) => ({
    colorScheme,
    id,
    impact,
    html: nodes.map(({ html }) => html),
  }));
}

function findChromium(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    } catch {
      // The next name.
    }
  }
  return undefined;
}
