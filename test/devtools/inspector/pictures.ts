import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { bareEnvironment } from '../../support/bare-environment.ts';
import { onTerminal } from '../cli/interactive-shell.ts';
import { row, tab, useBrowser } from './browser.ts';
import { sendMessages, startStory } from './story.ts';

const { show } = useBrowser();

/* `npm run docs:pictures`. They are no test: a picture differs between machines. */

const folder = new URL(process.env.DOCS_PICTURES || '../../../docs/images/', import.meta.url);

function save(name: string, image: Uint8Array): void {
  expect([name, image.length < 250_000 && image.length > 5000]).toEqual([name, true]);
  writeFileSync(fileURLToPath(new URL(`${name}.png`, folder)), image);
}

/** Runs in the page. The keys open a sandbox alone, and readers should still not copy them. */
function maskKeys(): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = node.nodeValue ?? '';
    const masked = text.replaceAll(/(API-X-|(?:[ps]k_\w+?|master)_|one-time\/)[\w-]{8,}/g, '$1…');
    if (masked !== text) node.nodeValue = masked;
  }
}

it('npm run docs:pictures makes the pictures of the inspector', { timeout: 120_000 }, async () => {
  const story = await startStory();
  onTestFinished(() => story[Symbol.asyncDispose]());
  const { page } = await show(story.server.inspectorUrl, { width: 1160, height: 640 });
  const { sandbox } = story;
  const picture = async (name: string, themes: readonly ('light' | 'dark')[] = ['light']) => {
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(maskKeys);
      save(`inspector-${name}${colorScheme === 'dark' ? '-dark' : ''}`, await page.screenshot());
    }
    await page.emulateMedia({ colorScheme: 'light' });
  };
  await page.getByText('PARTNER_ID').waitFor();
  await picture('start');
  await story.order('A-1001');
  await sandbox.idle();
  sandbox.faults.plan('event.buy.received.fiat', 'tampered');
  await sandbox.play('A-1001', 'happy');
  await story.order('A-1002', { fiat_amount: '820', fiat_currency: 'GHS' });
  sandbox.faults.plan('createOrder', 'reply_lost');
  await story.order('A-1003').catch(() => {});
  await sandbox.idle();
  await sandbox.advance('A-1003', 'no_kyc');
  await sendMessages(story, [
    ['+233201112222', 'Your code is 1177.'],
    ['+2348012345678', 'Your code is 482913. It is valid for 5 minutes.'],
    ['+2348012345678', 'Order A-1001 is credited.'],
  ]);
  await story.exchange.regenerateKeys({ partner_code: 'acme', email: 'dev@acme.example' });
  await row(page, 'regenerateKeys').waitFor();
  await page.getByRole('link', { name: 'Orders 3' }).waitFor();
  await page.setViewportSize({ width: 1160, height: 560 });
  await picture('traffic', ['light', 'dark']);
  await row(page, 'tampered').click();
  await page.getByText('as it should').waitFor();
  await picture('signature');
  await tab(page, /Orders/);
  await row(page, 'A-1003').click();
  await page.getByText('event.buy.received.fiat_kyc_error').waitFor();
  await picture('order');
  await tab(page, /Outbox/);
  await page.getByText('482913', { exact: true }).waitFor();
  await page.getByText('not opened').waitFor();
  await picture('outbox');
  sandbox.faults.plan('event', 'tampered', { rate: 0.3 });
  sandbox.faults.plan('createOrder', 'reset');
  await tab(page, /Faults/);
  await page.getByText('The next createOrder').waitFor();
  await picture('faults');
  await page.setViewportSize({ width: 360, height: 720 });
  await tab(page, /Traffic/);
  await page.keyboard.press('Escape');
  await row(page, 'regenerateKeys').waitFor();
  await picture('narrow');
});

it('npm run docs:pictures makes the picture of the terminal', { timeout: 120_000 }, async () => {
  await using story = await startStory();
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey } = story.credentials;
  // It answers 200 to everything, as a receiver that verifies nothing does.
  const receiver = createServer((request, response) => {
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(3000, '127.0.0.1', resolve));
  const keys = {
    PARTNER_PUBLIC_KEY: partnerPublicKey,
    PARTNER_SECRET_KEY: partnerSecretKey,
    MERCHANT_SECRET_KEY: merchantSecretKey,
  };
  const shown = [
    await onScreen(['sandbox', '--seed', 'docs'], { answers: [['The inspector is at', '\u0003']] }),
    await onScreen(['attack', 'http://127.0.0.1:3000/orders'], { env: keys }),
  ];
  receiver.closeAllConnections();
  receiver.close();
  const { page } = await show('about:blank', { width: 1000, height: 400 });
  await page.setContent(`<style>${terminalStyle}</style><pre>${shown.map(asHtml).join('\n')}</pre>`);
  save('terminal', await page.locator('pre').screenshot());
});

/** The bytes of a command on a terminal of its own, after its prompt. */
function onScreen(
  words: readonly string[],
  { env = {}, answers = [] }: { env?: Record<string, string>; answers?: [string, string][] },
): Promise<string> {
  const main = fileURLToPath(new URL('../../../src/devtools/cli/main.ts', import.meta.url));
  const [python = '', script = ''] = onTerminal;
  const command = [
    script,
    JSON.stringify(answers),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
  ];
  return new Promise((resolve) => {
    const child = execFile(
      python,
      [...command, main, ...words],
      {
        env: { ...bareEnvironment, TERM: 'xterm-256color', TERMINAL_SIZE: '[60,110]', ...env },
        timeout: 60_000,
      },
      // An attack with findings ends with another code than 0.
      (_, output) => resolve(`\u001b[2m$\u001b[22m partner-exchange ${words.join(' ')}\n${output}`),
    );
    child.stdin?.end();
  });
}

const terminalStyle = `
  body { margin: 0; background: #14171e }
  pre { margin: 0; padding: 22px 26px; width: max-content; max-width: 948px; white-space: pre-wrap; overflow-wrap: anywhere;
    background: #14171e; color: #e8eaf0; font: 13px/1.55 "DejaVu Sans Mono", monospace }
  .s1 { font-weight: 700 } .s2 { color: #9ba3b4 } .s4 { text-decoration: underline }
  .s31 { color: #ff9ba4 } .s32 { color: #6ee7a0 } .s33 { color: #f5c761 } .s34, .s36 { color: #a5b0ff }`;

/** Styled text of a terminal as HTML, with keys and tokens cut off. */
function asHtml(bytes: string): string {
  const masked = bytes
    .replaceAll(/((?:[ps]k_\w+?|master)_[0-9a-f]{4})[0-9a-f]{20,}/g, '$1…')
    .replaceAll(/([#?]token=|Bearer )[\w-]+/g, '$1…')
    .replaceAll('^C', '');
  // A line that was written over shows its last text.
  const lines = masked.split(/\r?\n/).map((line) => line.slice(line.lastIndexOf('\r') + 1));
  const styles = new Set<string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's styles begin with one.
  const parts = lines.join('\n').split(/\u001b\[([\d;]*)([A-Za-z])/);
  return parts
    .map((part, index) => {
      if (index % 3 === 2) return '';
      if (index % 3 === 0) {
        const text = part.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        return `<span class="${[...styles].join(' ')}">${text}</span>`;
      }
      if (parts[index + 1] === 'm') for (const code of part.split(';')) applyStyle(styles, code);
      return '';
    })
    .join('');
}

function applyStyle(styles: Set<string>, code: string): void {
  const ended = { '22': /^s[12]$/, '24': /^s4$/, '39': /^s[39]\d$/, '0': /./, '': /./ }[code];
  if (ended === undefined) styles.add(`s${code}`);
  else for (const each of styles) if (ended.test(each)) styles.delete(each);
}
