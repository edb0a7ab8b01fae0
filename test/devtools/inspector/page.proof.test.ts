import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { startServer } from '../../support/local-server.ts';
import { onboarded } from '../sandbox/support.ts';
import { inBrowser, notice, pressAtOnce, row, rows, tab, useBrowser } from './browser.ts';
import { axeViolations } from './chromium.ts';
import { sendMessages } from './story.ts';

const { show, visit } = useBrowser();

// On two cores that other tests use, too.
describe('the inspector', { timeout: 60_000, ...inBrowser }, () => {
  it('says what to do first, creates an order and opens it, and lists its variables to copy', async () => {
    const sandbox = createSandbox({ partners: [], fetch: async () => new Response('ok') });
    const server = await sandbox.listen();
    const { page, problems } = await show(server.inspectorUrl);
    await page.getByText('There is no partner yet').waitFor();
    await page.getByText('No requests or events yet').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const { partnerSecretKey } = await onboarded(sandbox, sandbox);
    await page.getByText(`PARTNER_SECRET_KEY=${partnerSecretKey}`).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await notice(page, 'Copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(partnerSecretKey);
    await page.getByLabel(/Address of your receiver/).fill('http://127.0.0.1:4011/orders');
    await page.getByRole('button', { name: 'Create an order' }).click();
    await page
      .getByRole('article', { name: /createOrder/ })
      .getByText('The sandbox replied 200')
      .waitFor();
    await row(page, 'event.buy.init', 'A-1001', '200').waitFor();
    expect(sandbox.order('A-1001').partner_callback_url).toBe('http://127.0.0.1:4011/orders');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByText('Start here').count()).toBe(0);
    expect(problems).toEqual([]);
    await server.close();
  });

  it('opens an exchange with its signature, its body and its headers', async () => {
    const { page, story } = await visit();
    await row(page, 'event.buy.init').click();
    const detail = page.getByRole('article');
    await detail.getByText('order key of acme').waitFor();
    await detail.getByText('The signed text').click();
    // Numbers and escapes as they were sent.
    expect(await detail.locator('pre', { hasText: 'event_name' }).last().textContent()).toContain('15000.50');
    await detail.getByText('Headers').first().click();
    await detail.getByText(`Bearer ${story.credentials.partnerPublicKey}`).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => detail.count()).toBe(0);
  });

  it('posts an event again, forged and tampered, and opens what came of it', async () => {
    const { page, story } = await visit();
    const detail = page.getByRole('article');
    for (const [name, status, reason] of [
      ['Post again', 200, 'The receiver acknowledged the event'],
      ['Forge', 401, 'The receiver refused a forged event, as it should'],
      ['Tamper', 401, 'changed after signing, as it should'],
    ] as const) {
      await page.getByRole('option').filter({ hasText: 'event.buy.init' }).last().click();
      await detail.getByRole('button', { name }).click();
      await notice(page, `${name}: answered with ${status}`);
      const opened = story.sandbox.trace.entries.findLast(({ kind }) => kind === 'event')?.id;
      await page
        .getByRole('article', { name: `event.buy.init #${opened}` })
        .getByText(reason)
        .waitFor();
    }
    expect(story.sandbox.deliveries.map(({ faults, attempts }) => [...faults, attempts])).toEqual([
      [2],
      ['forged', 1],
      ['tampered', 1],
    ]);
    await detail.getByText('The signature does not hold').waitFor();
  });

  it('moves an order by a step and by a scenario', async () => {
    const { page, story } = await visit();
    await story.order('A-1002');
    await tab(page, /Orders/);
    await page.getByRole('searchbox').fill('a-1001 ngn');
    await expect.poll(() => rows(page).count()).toBe(1);
    await row(page, 'A-1001', 'created', '15000.50 NGN', 'init').waitFor();
    // As the next order in the list, from the search field.
    await page.getByRole('searchbox').fill('');
    await row(page, 'A-1002').waitFor();
    await pressAtOnce(page.getByRole('searchbox'), 'ArrowDown', 2);
    await page.getByRole('article', { name: 'Order A-1001' }).waitFor();
    await page.getByRole('button', { name: 'fiat received' }).click();
    await notice(page, 'event.buy.received.fiat, answered with 200');
    expect(story.sandbox.order('A-1001').state).toBe('fiat_received');
    await page.getByRole('button', { name: 'credited', exact: true }).click();
    await page.getByText('The order is closed.').waitFor();
    await row(page, 'A-1002').click();
    await page.getByLabel('Or all steps at once').selectOption('kyc_then_refund');
    await page.getByRole('button', { name: 'Play' }).click();
    await notice(page, 'Played kyc_then_refund: 2 events');
    expect(story.sandbox.order('A-1002').state).toBe('refunded');
  });

  it('plans faults once and at a rate, and clears them', async () => {
    const { page, story } = await visit();
    const { faults } = story.sandbox;
    await tab(page, /Faults/);
    await page.getByLabel('Happens to').selectOption('createOrder');
    await page.getByRole('combobox', { name: 'Fault', exact: true }).selectOption('server_error');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await notice(page, 'Planned server_error for createOrder');
    await page.getByLabel('Happens to').selectOption('event.buy.credited.crypto');
    await page.getByRole('combobox', { name: 'Fault', exact: true }).selectOption('drop');
    await page.getByLabel('How often').fill('12.5');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await page.getByText('12.5 %').waitFor();
    expect(faults.list()).toEqual([
      { target: 'createOrder', fault: 'server_error' },
      { target: 'event.buy.credited.crypto', fault: 'drop', rate: 0.125 },
    ]);
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.getByText('No faults: every reply and event arrives.').waitFor();
    expect(faults.list()).toEqual([]);
  });

  it('moves the clock, and forgets everything when asked twice', async () => {
    const { page, story } = await visit({ clock: 'manual' });
    const before = story.sandbox.clock.now();
    await tab(page, /Faults/);
    await page.getByRole('button', { name: '+1 h' }).click();
    await notice(page, 'Moved the clock +1 h');
    expect(story.sandbox.clock.now() - before).toBe(3_600_000);
    page.once('dialog', (dialog) => dialog.dismiss());
    await page.getByRole('button', { name: 'Reset…' }).click();
    expect(story.sandbox.orders).toHaveLength(1);
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: 'Reset…' }).click();
    await notice(page, 'Everything is forgotten');
    expect(story.sandbox.orders).toEqual([]);
    await tab(page, /Traffic/);
    await page.getByText('Start here').waitFor();
  });

  it('has the messages with their codes, and the mails with their links', async () => {
    const { page, story, problems } = await visit();
    await sendMessages(story, [
      ['+2348012345678', 'Your code is 482913.'],
      ['+233201112222', 'Hello <b>you</b> & <img src=x onerror=alert(1)>'],
    ]);
    await tab(page, /Outbox/);
    const item = (text: string) => page.getByRole('article').filter({ hasText: text });
    await item('+233201112222').getByText('<b>you</b> & <img').waitFor();
    await item('+2348012345678').getByText('482913', { exact: true }).waitFor();
    await item('+2348012345678').getByText('verify_check true').waitFor();
    await story.exchange.regenerateKeys({ partner_code: 'acme', email: 'dev@acme.example' });
    await item('Your keys, acme').getByText('used', { exact: true }).waitFor();
    expect(await item('Your keys, acme').getByRole('link').count()).toBe(0);
    const link = item('New keys for acme').getByRole('link', { name: 'Open the link' });
    expect(await link.getAttribute('href')).toBe(story.sandbox.emails[1]?.link);
    expect(problems).toEqual([]);
  });

  it('searches and filters', async () => {
    const { page, story } = await visit();
    await story.exchange.createOrder({} as never).catch(() => {});
    story.sandbox.faults.plan('whitelistIp', 'reset');
    await story.exchange.whitelistIp().catch(() => {});
    await page.keyboard.press('/');
    await page.keyboard.type('INIT a-1001');
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.keyboard.press('ArrowDown');
    await page.getByRole('article', { name: /event.buy.init/ }).waitFor();
    await page.keyboard.press('Escape');
    await story.sandbox.fetch('https://sandbox.localhost/nothing');
    await page.getByRole('searchbox').fill('NOTHING 404');
    await row(page, '/nothing', '404').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('searchbox').fill('nothing like this');
    await page.getByText('No matches').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('combobox', { name: 'Show' }).selectOption('events');
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('faults');
    await row(page, 'whitelistIp', 'reset', 'no reply').waitFor();
    expect(await rows(page).count()).toBe(1);
  });

  it('keeps tab, selection and search in the address: back, reload and links work', async () => {
    const { page, story } = await visit();
    const search = page.getByRole('searchbox');
    await search.fill('a-1001');
    await page.getByRole('combobox', { name: 'Show' }).selectOption('events');
    await row(page, 'event.buy.init').click();
    const detail = page.getByRole('article', { name: /event.buy.init/ });
    await detail.waitFor();
    const link = page.url();
    expect(link).toMatch(/\/_sandbox\/#open=\d+&search=a-1001&show=events$/);
    await tab(page, /Orders/);
    await row(page, 'A-1001').click();
    await page.getByRole('article', { name: 'Order A-1001' }).waitFor();
    expect(page.url()).toContain('#tab=orders&open=');
    await page.reload();
    await page.getByRole('article', { name: 'Order A-1001' }).waitFor();
    for (let step = 0; step < 2; step++) await page.goBack();
    await detail.waitFor();
    expect([page.url(), await search.inputValue(), await rows(page).count()]).toEqual([link, 'a-1001', 1]);
    await page.goBack();
    await expect.poll(() => detail.count()).toBe(0);
    expect(await search.inputValue()).toBe('a-1001');
    await page.goForward();
    await detail.waitFor();
    // As in a new tab.
    await page.evaluate(() => sessionStorage.clear());
    await page.goto('about:blank');
    await page.goto(`${link}&token=${story.server.token}`);
    await detail.waitFor();
    // The token is never in the address.
    await expect.poll(() => page.url()).toBe(link);
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = await visit();
    const list = page.getByRole('listbox');
    await list.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('article', { name: /event.buy.init/ }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('article', { name: /onboard/ }).waitFor();
    expect(await list.getAttribute('aria-activedescendant')).toMatch(/^row-\d+$/);
    await page.keyboard.press('Home');
    await page.getByRole('article', { name: /event.buy.init/ }).waitFor();
    await pressAtOnce(list, 'ArrowDown', 2);
    await page.getByRole('article', { name: /whitelistIp/ }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Close');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('article').count()).toBe(0);
    await page.getByRole('link', { name: /Orders/ }).focus();
    await page.keyboard.press('Enter');
    await row(page, 'A-1001', 'created').waitFor();
  });

  it('looks without the token, and changes with it', async () => {
    const { page, story } = await visit();
    // As in a new tab.
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await row(page, 'event.buy.init').click();
    expect(await page.getByRole('button', { name: 'Post again' }).isDisabled()).toBe(true);
    await page.getByText('You can look.').waitFor();
    await page.goto(story.server.inspectorUrl);
    await row(page, 'event.buy.init').click();
    await page.getByRole('button', { name: 'Post again' }).click();
    await notice(page, 'answered with 200');
    expect(await page.getByText('You can look.').count()).toBe(0);
    expect(page.url()).not.toContain('token');
  });

  it('draws the last 500 of many requests', async () => {
    const { page, story } = await visit();
    for (let round = 0; round < 2_000; round++)
      await story.sandbox.fetch(`https://sandbox.localhost/path/${round}`);
    await row(page, '/path/1999', '404').waitFor();
    await page.getByText('the last 500').waitFor();
    expect(await rows(page).count()).toBe(500);
  });

  it('asks for nothing while it is hidden, and catches up when it is shown', async () => {
    const { page, story } = await visit();
    const setHidden = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await setHidden(true);
    await story.order('B-1');
    await expect(page.waitForRequest('**/_sandbox/**', { timeout: 2_000 })).rejects.toThrow('Timeout');
    expect(await row(page, 'B-1').count()).toBe(0);
    await setHidden(false);
    await row(page, 'event.buy.init', 'B-1', '200').waitFor();
  });

  it('goes on by itself after the connection broke', async () => {
    const { page, story } = await visit();
    await page.getByText('live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    const port = Number(new URL(story.server.url).port);
    await story.server.close();
    await page.getByText('not connected').waitFor();
    await story.sandbox.fetch('https://sandbox.localhost/meanwhile');
    await page.context().setOffline(false);
    const again = await story.sandbox.listen({ port, token: story.server.token });
    await page.getByText('live', { exact: true }).waitFor();
    await row(page, '/meanwhile', '404').waitFor();
    await again.close();
  });

  it('shows another sandbox at the same address, and nothing of the one before', async () => {
    const { page, story } = await visit();
    const port = Number(new URL(story.server.url).port);
    await story.server.close();
    await page.getByText('not connected').waitFor();
    const other = createSandbox();
    // More than the first one had: its ids go on as if nothing had happened.
    for (let round = 0; round < 10; round++) await other.fetch('https://sandbox.localhost/other');
    const server = await other.listen({ port });
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(10);
    expect(await row(page, 'A-1001').count()).toBe(0);
    await server.close();
  });

  it('has no fault that axe finds, light or dark', async () => {
    const { page, story } = await visit();
    await sendMessages(story, [['+2348012345678', 'Your code is 482913.']]);
    story.sandbox.faults.plan('event', 'tampered', { rate: 0.5 });
    await story.api('deliveries/delivery-1/post', { as: 'tampered' });
    const check = async (what: string) => expect([what, await axeViolations(page)]).toEqual([what, []]);
    await row(page, 'tampered').waitFor();
    await check('traffic');
    await row(page, 'tampered').click();
    await page.getByText('does not hold').waitFor();
    await check('an exchange');
    await tab(page, /Orders/);
    await check('orders');
    await row(page, 'A-1001').click();
    await page.getByRole('article', { name: 'Order A-1001' }).waitFor();
    await check('an order');
    for (const name of [/Outbox/, /Faults/]) {
      await tab(page, name);
      await page.locator('.outbox, .controls').waitFor();
      await check(String(name));
    }
  });

  it('can be read at 360 px: nothing sticks out sideways', async () => {
    const { page, story } = await visit({}, { width: 360, height: 740 });
    await sendMessages(story, [['+2348012345678', `Your code is 482913. ${'x'.repeat(300)}`]]);
    await story.order(`A-${'9'.repeat(100)}`);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const sticksOut = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('main *')]
          .filter(
            (each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.row, select'),
          )
          .map((each) => each.outerHTML.slice(0, 100)),
      );
    const detail = page.getByRole('article');
    const steps: [act: () => Promise<void>, shown: Locator][] = [
      [() => row(page, 'event.buy.init', 'A-1001').click(), detail.getByText('The signature holds')],
      [() => page.keyboard.press('Escape'), row(page, 'createOrder', 'A-9', '200')],
      [() => tab(page, /Orders/), row(page, 'A-9', 'created')],
      [() => row(page, 'A-9').click(), detail.getByText('event.buy.init')],
      [() => tab(page, /Outbox/), page.getByText('xxx').last()],
      [() => tab(page, /Faults/), page.getByText('This sandbox')],
    ];
    for (const [act, shown] of steps) {
      await act();
      await shown.waitFor();
      expect(await overflow()).toBe(0);
      expect(await sticksOut()).toEqual([]);
    }
  });

  it('cuts a long value in its lists, and shows the whole in the detail', async () => {
    const { page, story } = await visit();
    const id = `L-${'9'.repeat(100_000)}`;
    await story.order(id);
    const line = row(page, 'createOrder', 'L-9', '200');
    await line.waitFor();
    expect((await line.textContent())?.length).toBeLessThan(500);
    await tab(page, /Orders/);
    const listed = row(page, 'L-9', 'created');
    expect(await listed.locator('b').textContent()).toBe(`${id.slice(0, 200)}…`);
    await listed.click();
    await page.getByRole('definition').filter({ hasText: id }).waitFor();
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

  it('is out of reach for a page of another origin in the same browser', async () => {
    const { page, story } = await visit();
    const stranger = await startServer({
      headers: { 'content-type': 'text/html' },
      body: '<!doctype html><p>stranger</p>',
    });
    await page.goto(stranger.url);
    const { url, token } = story.server;
    const results = await page.evaluate(
      async ({ url, token }) => {
        const attempt = (path: string, init: RequestInit) =>
          fetch(`${url}/_sandbox/${path}`, init).then(
            (response) => response.type,
            () => 'failed',
          );
        return [
          await attempt('state', {}),
          await attempt('reset', { method: 'POST', headers: { authorization: `Bearer ${token}` } }),
          await attempt('reset', { method: 'POST', mode: 'no-cors' }),
        ];
      },
      { url, token },
    );
    expect(results.slice(0, 2)).toEqual(['failed', 'failed']);
    expect(story.sandbox.orders).toHaveLength(1);
  });
});
