import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer as createConnectionServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { listening } from '../../support/listening.ts';
import { startServer } from '../../support/local-server.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { partnerExchange } from './run-in-process.ts';
import { addressOf, keys, scratchFolder, start } from './support.ts';

const body = '{ "partner_order_id": "A-1", "amount": 10.0, "name": "\\u00e9" }';

/** A signed event, as text. */
async function signedEvent(text = body): Promise<string> {
  return (await partnerExchange(['sign'], { env: keys, stdin: text })).stdout;
}

/** Posts bytes with exactly these headers, and returns status, headers and body. */
function post(url: string, content: string | Uint8Array, headers: readonly string[] = []) {
  return new Promise<{ status: number | undefined; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const target = new URL(url);
      const all = ['Host', target.host, ...headers, 'Content-Length', String(Buffer.byteLength(content))];
      const outgoing = request(target, { method: 'POST', headers: all }, async (incoming) => {
        const parts: Buffer[] = [];
        for await (const part of incoming) parts.push(part);
        resolve({
          status: incoming.statusCode,
          headers: incoming.headers,
          text: Buffer.concat(parts).toString(),
        });
      });
      outgoing.once('error', reject);
      outgoing.end(content);
    },
  );
}

describe('listen', () => {
  it('verifies, and prints a line for each event', async () => {
    const running = start(['listen', '--port', '0'], { env: keys });
    const url = await addressOf(running);
    const event = await signedEvent();
    expect((await post(url, event)).status).toBe(200);
    expect(await post(url, event.replace('A-1', 'A-2'))).toMatchObject({
      status: 401,
      text: '{"error":"signature_mismatch"}',
    });
    expect((await post(url, 'not json')).status).toBe(401);
    const { code, stdout } = await running.stop();
    expect(code).toBe(130);
    expect(stdout.split('\n').map((line) => line.slice(9))).toEqual([
      'verified A-1 nonconforming -> 200',
      'refused signature_mismatch A-2 -> 401',
      'refused body_not_json -> 401',
      '',
    ]);
  });

  it('gives programs a line of JSON for each', async () => {
    const running = start(['listen', '--port', '0', '--format', 'json'], { env: keys });
    await post(`${await addressOf(running)}/orders?x=1`, await signedEvent());
    const { stdout } = await running.stop();
    expect(JSON.parse(stdout)).toEqual({
      at: '2026-01-02T03:04:05.000Z',
      target: '/orders?x=1',
      bytes: expect.any(Number),
      signature: 'verified',
      kind: 'nonconforming',
      partner_order_id: 'A-1',
      answered: 200,
    });
  });

  it('without keys says so, and accepts everything', async () => {
    const running = start(['listen', '--port', '0']);
    const url = await addressOf(running);
    expect((await post(url, '{"event_name":"\\u001b[31mred\\nline"}')).status).toBe(200);
    const { stdout, stderr } = await running.stop();
    expect(stderr).toContain('nothing is verified');
    expect(stdout).toBe('03:04:05 unchecked \\u001b[31mred line -> 200\n');
  });

  it('refuses other methods, large bodies, and requests of web pages', async () => {
    const running = start(['listen', '--port', '0'], { env: keys });
    const url = await addressOf(running);
    expect((await fetch(url)).status).toBe(405);
    expect((await post(url, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(
      (await fetch(url, { method: 'POST', body: '{}', headers: { origin: 'https://evil.example' } })).status,
    ).toBe(403);
    const foreign = await rawRequest(url, { method: 'POST', headers: { host: 'evil.example' } });
    expect(foreign.status).toBe(403);
    expect((await running.stop()).stdout).toBe('');
  });

  it('lets a tunnel in by its name', async () => {
    const running = start(['listen', '--port', '0', '--allow-host', 'tunnel.example'], { env: keys });
    const headers = { host: 'tunnel.example' };
    const answer = await rawRequest(await addressOf(running), { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(401);
  });

  it('keeps every event byte for byte, in private files that verify, learn and replay read', async () => {
    const cwd = scratchFolder();
    const running = start(['listen', '--port', '0', '--save', 'events'], { env: keys, cwd });
    const url = await addressOf(running);
    const event = await signedEvent();
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    await post(`${url}/a/b?c=d`, event, [
      'X-Odd-CASE',
      'é1'.normalize('NFC').replace('é', 'e'),
      'content-type',
      'application/json',
    ]);
    await post(url, bytes, ['Content-Type', 'text/plain']);
    await running.stop();
    const names = readdirSync(join(cwd, 'events'));
    expect(names).toHaveLength(2);
    if (process.platform !== 'win32') {
      expect(names.map((name) => statSync(join(cwd, 'events', name)).mode & 0o777)).toEqual([0o600, 0o600]);
      expect(statSync(join(cwd, 'events')).mode & 0o777).toBe(0o700);
    }
    const saved = JSON.parse(readFileSync(join(cwd, 'events', names[0] ?? ''), 'utf8'));
    expect(saved).toMatchObject({ format: 'partner-exchange-delivery/1', target: '/a/b?c=d', body: event });
    expect(saved.headers).toContainEqual(['X-Odd-CASE', 'e1']);
    const verified = await partnerExchange(['verify', 'events'], { env: keys, cwd });
    expect(verified.stdout).toMatch(/^verified .*\nrefused .*UTF-8.*\nbroken {2}not-utf8: .*\n.*\n$/);
    expect(
      (await partnerExchange(['learn', join('events', names[0] ?? '')], { env: keys, cwd })).stdout,
    ).toMatch(/^proven +signature-construction/m);

    const target = await startServer({ status: 204 });
    const replayed = await partnerExchange(['replay', 'events', '--to', `${target.url}/hook`], { cwd });
    expect(replayed.code).toBe(0);
    expect(target.requests.map((each) => each.body.toString('base64'))).toEqual([
      Buffer.from(event).toString('base64'),
      bytes.toString('base64'),
    ]);
    expect(target.requests[0]?.headers).toMatchObject({
      'x-odd-case': 'e1',
      'content-type': 'application/json',
    });
    expect(target.requests[1]?.headers['content-type']).toBe('text/plain');
  });

  it('answers an event that it cannot keep with 503 and a message, and goes on once it can', async () => {
    const cwd = scratchFolder();
    const target = await startServer({ status: 200 });
    const args = ['listen', '--port', '0', '--save', 'events', '--forward-to', target.url];
    const running = start(args, { env: keys, cwd });
    const url = await addressOf(running);
    rmSync(join(cwd, 'events'), { recursive: true });
    writeFileSync(join(cwd, 'events'), 'in the way');
    const event = await signedEvent();
    const refused = await post(url, event);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    expect(JSON.parse(refused.text)).toEqual({
      error: 'not_kept',
      message: 'This event could not be kept: send it again later.',
    });
    rmSync(join(cwd, 'events'));
    expect((await post(url, event)).status).toBe(200);
    expect([readdirSync(join(cwd, 'events')).length, target.requests.length]).toEqual([1, 1]);
    const { stdout, stderr } = await running.stop();
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toContain('An event was answered with 503, since it cannot be kept: ');
  });

  it.runIf(process.platform === 'linux').each(['/proc/nowhere/events', '/dev/null/events'])(
    'with --save %s it says at the start that nothing can be kept, answers 503, and can be stopped',
    async (folder) => {
      const running = start(['listen', '--port', '0', '--save', folder], { env: keys });
      const url = await addressOf(running);
      expect((await post(url, await signedEvent())).status).toBe(503);
      const { code, stderr } = await running.stop();
      expect(code).toBe(130);
      expect(stderr).toContain(`Nothing can be kept in ${folder}, so every event is answered with 503: `);
    },
  );

  it('can be stopped while a sender holds its request back', async () => {
    const limits: number[] = [];
    const running = start(['listen', '--port', '0'], {
      env: keys,
      sleep: async (ms) => void limits.push(ms),
    });
    const { hostname, port } = new URL(await addressOf(running));
    const sender = connect(Number(port), hostname);
    sender.write(
      'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\nhalf',
    );
    expect(String(await once(sender, 'data'))).toContain('100 Continue');
    const isClosed = once(sender.resume(), 'close');
    expect((await running.stop()).code).toBe(130);
    await isClosed;
    expect(limits).toEqual([10_000]);
  });
});

describe('listen --forward-to', () => {
  const forwarding = (target: string, more: readonly string[] = []) => [
    ...['listen', '--port', '0', '--forward-to', target],
    ...more,
  ];

  it('passes on bytes and headers, and the answer back', async () => {
    const target = await startServer({ status: 418, headers: { 'x-mine': 'yes' }, body: 'teapot' });
    const running = start(forwarding(`${target.url}/hook`), { env: keys });
    const event = await signedEvent();
    const answer = await post(await addressOf(running), event, [
      'authorization',
      'Bearer pk',
      'X-Two',
      'a',
      'X-Two',
      'b',
    ]);
    expect(answer).toMatchObject({ status: 418, text: 'teapot' });
    expect(answer.headers['x-mine']).toBe('yes');
    expect(target.requests).toHaveLength(1);
    expect(target.requests[0]?.url).toBe('/hook');
    expect(target.requests[0]?.body.toString()).toBe(event);
    expect(target.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer pk',
      'x-two': 'a, b',
      host: new URL(target.url).host,
    });
    expect((await running.stop()).stdout).toContain('verified A-1 nonconforming -> 418 (');
  });

  it.each([
    ['', '/orders/7?shop=1', '/orders/7?shop=1'],
    ['/', '//other.example/%7e/../a?b=%20', '//other.example/%7e/../a?b=%20'],
    ['/hook', '/orders/7?shop=1', '/hook?shop=1'],
    ['/hook?key=k', '/orders?shop=1', '/hook?key=k&shop=1'],
    ['?key=k', '/orders', '/orders?key=k'],
  ])('at the address "%s" an event to %s goes to %s', async (address, sent, expected) => {
    const target = await startServer({ status: 200 });
    const running = start(forwarding(target.url + address), { env: keys });
    const listening = await addressOf(running);
    const answer = await rawRequest(listening, { method: 'POST', path: sent, body: await signedEvent() });
    expect(answer.status).toBe(200);
    expect(target.requests.map(({ url }) => url)).toEqual([expected]);
  });

  it('passes on each refusal as it is, and the events after it', async () => {
    const statuses = [500, 302, 204, 401, 408, 422, 429, 502, 503, 504, 200];
    const [first = 0, ...others] = statuses;
    const target = await startServer({ status: first }, ...others.map((status) => ({ status })));
    const running = start(forwarding(target.url), { env: keys });
    const url = await addressOf(running);
    const event = await signedEvent();
    const answers: unknown[] = [];
    for (const _ of statuses) answers.push((await post(url, event)).status);
    expect(answers).toEqual(statuses);
    await running.stop();
    expect(target.requests).toHaveLength(statuses.length);
  });

  it('shows the target what is forged, too, and passes on its answer', async () => {
    const target = await startServer({ status: 202 });
    const running = start(forwarding(target.url), { env: keys });
    const forged = (await signedEvent()).replace('A-1', 'A-2');
    expect((await post(await addressOf(running), forged)).status).toBe(202);
    expect((await running.stop()).stdout).toContain('refused signature_mismatch A-2 -> 202');
  });

  it('answers 503 with Retry-After while the target is down, and replay posts what was kept', async () => {
    const cwd = scratchFolder();
    const port = await freePort();
    const args = forwarding(`http://127.0.0.1:${port}/hook`, ['--save', 'events', '--format', 'json']);
    const running = start(args, { env: keys, cwd });
    const url = await addressOf(running);
    const event = await signedEvent();
    const refused = await post(url, event);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    expect(JSON.parse(refused.text)).toEqual({
      error: 'no_answer',
      message: 'The receiver behind listen did not answer (ECONNREFUSED): send this again later.',
    });
    expect((await post(url, event.replace('A-1', 'A-2'))).status).toBe(503);
    const { stdout } = await running.stop();
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
      file: expect.stringMatching(/-[0-9a-f]{8}\.json$/),
      forwarded: { problem: 'ECONNREFUSED' },
      answered: 503,
    });
    const target = await startServer({ status: 200 });
    expect(await partnerExchange(['replay', 'events', '--to', target.url], { cwd })).toMatchObject({
      code: 0,
      stderr: '2 of 2 answered with 2xx.\n',
    });
    expect(target.requests.map(({ body }) => body.toString())).toContain(event);
  });

  it.each([
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['answers with something else than HTTP', 'SSH-2.0-x\r\n'],
    ['hangs up in the middle of its answer', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'],
  ])('answers 503 when the target %s', async (_, bytes) => {
    const broken = createConnectionServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(bytes));
    });
    onTestFinished(() => void broken.close());
    const running = start(forwarding(await listening(broken)), { env: keys });
    expect((await post(await addressOf(running), await signedEvent())).status).toBe(503);
  });
});
