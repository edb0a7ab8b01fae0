import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // Dates and numbers the same on every machine.
  '--lang=en-GB',
];

/** The system's Chromium, or `undefined` where there is none. */
export const chromiumPath = findChromium();

export const isRequired = process.env.CI === 'true' || process.env.CI === '1';

/** Without a browser, tests of the page are skipped, except in CI. */
export const isSkipped = chromiumPath === undefined && !isRequired;

if (isSkipped) console.warn('Skipping the tests of the inspector page: there is no chromium.');

export function launch(): Promise<Browser> {
  return chromium.launch({ ...(chromiumPath && { executablePath: chromiumPath }), args: flags });
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
