import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../support/bodies.ts';
import { freePort } from '../../support/free-port.ts';
import { startServer } from '../../support/local-server.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { inBrowser, notice, row, rows, useBrowser } from '../inspector/browser.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys, scratchFolder, start } from './support.ts';

const event = '{ "event_name": "event.buy.init", "partner_order_id": "A-1", "amount": 10.0 }';

async function signedEvent(text = event): Promise<string> {
  return (await partnerExchange(['sign'], { env: keys, stdin: text })).stdout;
}

/** `listen`, where it takes events, and where its inspector is. */
async function listening(args: readonly string[] = [], env: Record<string, string> = keys) {
  const state = { XDG_STATE_HOME: scratchFolder() };
  const running = start(['listen', '--port', '0', ...args], { env: { ...env, ...state }, now: Date.now });
  const said = await running.printed('stderr', /The inspector is at \S+/);
  const url = /Listening at (\S+):/.exec(said)?.[1] ?? '';
  const page = new URL(/The inspector is at (\S+)/.exec(said)?.[1] ?? '');
  const token = page.hash.slice('#token='.length);
  const post = async (body: string) => (await fetch(url, { method: 'POST', body })).status;
  const ask = (path: string, init?: Parameters<typeof rawRequest>[1]) =>
    rawRequest(`${page.origin}/${path}`, init);
  const authorization = { authorization: `Bearer ${token}` };
  const send = async (path: string, body: object) => {
    const headers = { ...authorization, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${page.origin}/${path}`, init)).json();
  };
  return { running, url, page, token, post, ask, send, authorization };
}

describe('the inspector of listen', () => {
  it('tells of every event whether it was verified, and what was answered', async () => {
    const { post, ask, authorization } = await listening();
    const genuine = await signedEvent();
    expect(await post(genuine)).toBe(200);
    expect(await post(genuine.replace('A-1', 'A-2'))).toBe(401);
    const first = JSON.parse((await ask('trace/1', { headers: authorization })).text);
    expect(first.signature).toMatchObject({ holds: true, key: 'order key' });
    expect(first.entries).toMatchObject([
      { kind: 'event', event: 'event.buy.init', order: 'A-1', body: genuine, signature: 'verified' },
      { kind: 'event_reply', status: 200, body: '{"received":true}' },
    ]);
    // Without a receiver there is nothing to post it to.
    expect(first.entries[0]).not.toHaveProperty('delivery');
    const forged = JSON.parse((await ask('trace/3', { headers: authorization })).text);
    expect(forged.signature).toMatchObject({ holds: false, reason: { code: 'signature_mismatch' } });
    const explained = await ask('trace/3/explanation', { headers: authorization });
    expect(JSON.parse(explained.text).findings.length).toBeGreaterThan(0);
    expect(explained.text).not.toContain('hidden');
  });

  it('tells of an event which members were read from another form', async () => {
    const { post, ask, authorization } = await listening();
    const { signature: _, ...members } = buyInitBody({ exchange_rate: '1538.51' });
    await post(await signedEvent(JSON.stringify(members)));
    await post(await signedEvent());
    const exchange = async (id: number) =>
      JSON.parse((await ask(`trace/${id}`, { headers: authorization })).text);
    expect((await exchange(1)).readings).toEqual([
      { path: ['exchange_rate'], found: 'text', readAs: 'number' },
    ]);
    expect(await exchange(3)).not.toHaveProperty('readings');
  });

  it('shows no secret in the address that it forwards to', async () => {
    const target = await startServer({ status: 200 });
    const { post, ask, authorization } = await listening(['--forward-to', `${target.url}/x?key=do-not-show`]);
    expect(await post(await signedEvent())).toBe(200);
    expect(target.requests).toMatchObject([{ url: '/x?key=do-not-show' }]);
    const { text } = await ask('trace/1', { headers: authorization });
    expect(text).toContain('/x?key=');
    expect(text).not.toContain('do-not-show');
  });

  it('gives its events as JSON, which replay posts byte for byte', async () => {
    const { url, ask, authorization } = await listening([], {});
    const bytes = new Uint8Array([0x7b, 0xff, 0x00, 0x7d]);
    const headers = [
      ['x-two', 'a'],
      ['x-two', 'b'],
      ['authorization', 'Bearer pk'],
    ] as [string, string][];
    await fetch(`${url}/orders/7?shop=1`, { method: 'POST', body: bytes, headers });
    await fetch(url, { method: 'POST', body: event });
    const { text } = await ask('trace', { headers: authorization });
    const target = await startServer({ status: 200 });
    const cwd = filesIn({ 'traffic.json': text });
    const args = ['replay', 'traffic.json', '--to', target.url];
    expect(await partnerExchange(args, { cwd })).toMatchObject({ code: 0 });
    expect(target.requests).toMatchObject([
      { url: '/orders/7?shop=1', headers: { 'x-two': 'a, b', authorization: 'Bearer pk' } },
      { url: '/' },
    ]);
    expect(target.requests.map(({ body }) => body.toString('latin1'))).toEqual(['{\xff\0}', event]);
  });

  it('gives nothing but the empty page without the token', async () => {
    const { post, ask, token } = await listening();
    await post(await signedEvent());
    const paths = ['state', 'trace/1', 'trace/1/explanation', 'trace/stream', 'deliveries/1/redeliver', 'x'];
    for (const path of [...paths, `trace/1?token=${token}`]) {
      for (const headers of [{}, { authorization: `Bearer ${token}x` }, { authorization: `Basic ${token}` }])
        expect([path, (await ask(path, { headers })).status]).toEqual([path, 401]);
      expect((await ask(path, { method: 'POST' })).status).toBe(401);
    }
    const page = await ask('');
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('A-1');
    expect(page.text).not.toContain(token);
  });

  it('answers no page of another origin, and no other name (DNS rebinding)', async () => {
    const { ask, page, authorization } = await listening(['--allow-host', 'tunnel.example']);
    for (const headers of [
      { host: 'tunnel.example' },
      { host: `rebound.example:${page.port}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await ask('state', { headers: { ...authorization, ...headers } })).status).toBe(403);
      expect((await ask('', { headers })).status).toBe(403);
    }
    expect((await ask('state', { headers: { ...authorization, origin: page.origin } })).status).toBe(200);
  });

  it('is not at the address for events, which a tunnel may lead to', async () => {
    const { url, page } = await listening();
    expect(new URL(url).port).not.toBe(page.port);
    for (const path of ['/', '/state', '/_sandbox/']) expect((await fetch(url + path)).status).toBe(405);
  });

  it('is where --inspector-port says; a port that is taken ends listen before anything is received', async () => {
    const port = await freePort();
    const { page } = await listening(['--inspector-port', String(port)]);
    expect(page.origin).toBe(`http://127.0.0.1:${port}`);
    const args = ['listen', '--port', '0', '--inspector-port', String(port)];
    const second = await partnerExchange(args, { env: keys });
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining('--inspector-port') });
  });

  it('has a strict policy', async () => {
    const { ask, authorization } = await listening();
    for (const path of ['', 'state', 'nowhere']) {
      const { headers } = await ask(path, { headers: authorization });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    }
  });

  it('posts exactly the received bytes again, to the receiver alone', async () => {
    const target = await startServer({ status: 200 }, { status: 500 }, { status: 201 }, { status: 202 });
    const { post, ask, send, authorization } = await listening(['--forward-to', `${target.url}/hook`]);
    const genuine = await signedEvent();
    await post(genuine);
    for (const status of [500, 201]) {
      const replayed = await ask('deliveries/1/redeliver', { method: 'POST', headers: authorization });
      expect(JSON.parse(replayed.text)).toEqual({ status });
    }
    expect(target.requests.map(({ url, body }) => [url, body.toString()])).toEqual([
      ['/hook', genuine],
      ['/hook', genuine],
      ['/hook', genuine],
    ]);
    const { entries } = JSON.parse((await ask('trace/3', { headers: authorization })).text);
    expect(entries).toMatchObject([{ note: 'Replay of #1.' }, { kind: 'event_reply', status: 500 }]);
    expect((await ask('deliveries/1/redeliver', { headers: authorization })).status).toBe(405);
    const body = genuine.replace('A-1', 'A-2');
    const edited = await send('trace/1/send', { body, headers: { 'x-trial': 'yes', connection: 'close' } });
    expect(edited).toEqual({ exchange: 7, status: 202 });
    const copy = target.requests.at(-1);
    expect(copy).toMatchObject({ url: '/hook', headers: { 'x-trial': 'yes' } });
    expect(copy?.body.toString()).toBe(body);
    const { entries: copied } = JSON.parse((await ask('trace/7', { headers: authorization })).text);
    expect(copied).toMatchObject([{ note: 'Edited copy of #1.', signature: 'refused' }, { status: 202 }]);
    const unknown = await ask('deliveries/99/redeliver', { method: 'POST', headers: authorization });
    expect(unknown.status).toBe(404);
  });

  it('tells what the receiver answered, and when it did not', async () => {
    const target = await startServer({ status: 503, body: 'busy' });
    const { post, ask, authorization } = await listening(['--forward-to', target.url]);
    const event = await signedEvent();
    expect(await post(event)).toBe(503);
    target.stopListening();
    expect(await post(event)).toBe(503);
    const replies = await Promise.all(
      [1, 3].map(async (id) => JSON.parse((await ask(`trace/${id}`, { headers: authorization })).text)),
    );
    expect(replies.map(({ entries }) => entries.slice(1))).toMatchObject([
      [{ status: 503, body: 'busy' }],
      [{ status: 503, note: expect.stringMatching(/^No answer: ECONN/) }],
    ]);
  });

  it('keeps no more than the last thousand events', async () => {
    const { post, ask, authorization: headers } = await listening([], {});
    await post('{"partner_order_id":"N-1"}');
    for (let number = 2; number <= 1001; number++) await post(`{"partner_order_id":"N-${number}"}`);
    await post('{"partner_order_id":"N-1002"}');
    for (const [path, status] of [
      ['trace/1', 404],
      ['trace/3', 404],
      ['trace/5', 200],
      ['trace/2003', 200],
    ] as const)
      expect([path, (await ask(path, { headers })).status]).toEqual([path, status]);
    const { trace } = JSON.parse((await ask('state', { headers })).text);
    expect(trace).toEqual({ lastId: 2_004, forgotten: 4 });
  });
});

describe('its page', { timeout: 60_000, ...inBrowser }, () => {
  const { show } = useBrowser();

  it('shows what comes in while it is open, and replays it', async () => {
    const target = await startServer({ status: 200 }, { status: 401 }, { status: 202 });
    const listener = await listening(['--forward-to', target.url]);
    const { page, problems } = await show(listener.page.href);
    await page.getByText('Nothing has come in yet').waitFor();
    expect(await page.title()).toBe('Received events');
    expect(await page.getByRole('tab').count()).toBe(1);
    const genuine = await signedEvent();
    await listener.post(genuine);
    await listener.post(genuine.replace('A-1', 'A-2'));
    await row(page, 'event.buy.init', 'A-1', 'verified', '200').click();
    const detail = page.getByRole('article');
    await detail.getByText('The signature holds').waitFor();
    expect(await detail.getByRole('button', { name: /Forge|Tamper/ }).count()).toBe(0);
    await detail.getByRole('button', { name: 'Replay' }).click();
    await notice(page, 'Replay: answered with 202');
    expect(target.requests.at(-1)?.body.toString()).toBe(genuine);
    await row(page, '202').waitFor();
    await row(page, 'refused', '401').click();
    await detail.getByText('The signature does not hold').waitFor();
    await detail.getByText('Next:').waitFor();
    await page.getByRole('combobox').selectOption({ label: 'Not verified' });
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(problems).toEqual([]);
  });

  it('shows what was read of an event in another form', async () => {
    const listener = await listening();
    const { page, problems } = await show(listener.page.href);
    const { signature: _, ...members } = buyInitBody({ exchange_rate: '1538.51' });
    await listener.post(await signedEvent(JSON.stringify(members)));
    await row(page, 'event.buy.init', 'A-1001', 'verified').click();
    const detail = page.getByRole('article');
    await detail.getByRole('row', { name: 'exchange_rate text number' }).waitFor();
    await detail.getByText('partner-exchange learn events --check deployment.json').waitFor();
    expect(problems).toEqual([]);
  });

  it('shows a hostile event as text', async () => {
    const listener = await listening([], {});
    const markup = '</script><img src=x onerror=alert(1)>';
    const { page, problems } = await show(listener.page.href);
    const body = JSON.stringify({
      event_name: markup,
      partner_order_id: markup,
      payment_link: 'javascript:alert(1)',
    });
    await fetch(`${listener.url}/${encodeURIComponent(markup)}`, {
      method: 'POST',
      headers: { 'x-hostile': markup, ['__proto__']: markup },
      body,
    });
    await row(page, markup).click();
    const detail = page.getByRole('article');
    await detail.getByText('javascript:alert(1)').waitFor();
    await detail.getByRole('button', { name: 'headers' }).first().click();
    await detail.getByText(markup).first().waitFor();
    expect(await page.locator('img, a:not([download])').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('asks for the token, without which it shows nothing', async () => {
    const listener = await listening();
    await listener.post(await signedEvent());
    const { page } = await show(`${listener.page.origin}/`);
    const field = page.getByLabel(/give the token/);
    await field.fill('wrong');
    await page.getByRole('button', { name: 'Use it' }).click();
    // It is another form, empty, once the server has refused the token.
    await expect.poll(() => field.inputValue()).toBe('');
    expect(await page.getByRole('option', { name: 'A-1' }).count()).toBe(0);
    await field.fill(listener.token);
    await page.getByRole('button', { name: 'Use it' }).click();
    await row(page, 'A-1').waitFor();
    expect(await field.count()).toBe(0);
  });
});
