import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buyCreditedBody } from '../support/bodies.ts';
import { freePort } from '../support/free-port.ts';
import { startServer } from '../support/local-server.ts';
import { rawRequest } from '../support/raw-request.ts';
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

  it('says which members of an event were read from another form', async () => {
    const { payment_link: _, signature: __, ...members } = buyCreditedBody();
    const event = await signedEvent(
      JSON.stringify({ ...members, event_name: 'event buy credited crypto', crypto_payment_status: 'paid' }),
    );
    for (const format of ['text', 'json']) {
      const running = start(['listen', '--port', '0', '--format', format], { env: keys });
      expect((await post(await addressOf(running), event)).status).toBe(200);
      const { stdout } = await running.stop();
      if (format === 'text') {
        expect(stdout).toContain('verified event.buy.credited.crypto A-1001 ref_7d41 PAID/PAID (read: ');
        expect(stdout).toContain('payment_link nothing as null, ');
        expect(stdout).toContain('crypto_payment_status paid as PAID');
      } else {
        expect(JSON.parse(stdout)).toMatchObject({
          kind: 'known',
          event_name: 'event.buy.credited.crypto',
          readings: expect.arrayContaining([{ path: ['payment_link'], found: 'nothing', readAs: 'null' }]),
        });
      }
    }
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
    const running = start(['listen', '--port', '0', '--max-body-bytes', '10'], { env: keys });
    const url = await addressOf(running);
    expect((await fetch(url)).status).toBe(405);
    expect((await post(url, 'x'.repeat(11))).status).toBe(413);
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

  it('keeps every event byte for byte, in private files that verify, detect and replay read', async () => {
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
    expect(verified.stdout).toMatch(/^verified .*\nrefused .*UTF-8.*\n$/);
    expect(
      (await partnerExchange(['detect', join('events', names[0] ?? '')], { env: keys, cwd })).stdout,
    ).toContain('as-sent');

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

  it('does not acknowledge what it cannot save', async () => {
    const cwd = scratchFolder();
    const running = start(['listen', '--port', '0', '--save', 'events'], { env: keys, cwd });
    const url = await addressOf(running);
    const { rmSync } = await import('node:fs');
    rmSync(join(cwd, 'events'), { recursive: true });
    writeFileSync(join(cwd, 'events'), 'in the way');
    expect((await post(url, await signedEvent())).status).toBe(503);
    const { stdout, stderr } = await running.stop();
    expect(stdout).toBe('');
    expect(stderr).toContain('refused with 503');
  });
});

describe('listen --forward-to', () => {
  it('passes on bytes and headers, and the answer back', async () => {
    const target = await startServer({ status: 418, headers: { 'x-mine': 'yes' }, body: 'teapot' });
    const env = { ...keys, XDG_STATE_HOME: scratchFolder() };
    const running = start(['listen', '--port', '0', '--forward-to', `${target.url}/hook`], { env });
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

  it('shows the target what is forged, but keeps none of it', async () => {
    const state = scratchFolder();
    const target = await startServer({ status: 401 });
    const forged = (await signedEvent()).replace('A-1', 'A-2');
    const args = ['listen', '--port', '0', '--forward-to', target.url];
    const running = start(args, { env: { ...keys, XDG_STATE_HOME: state } });
    const url = await addressOf(running);
    expect((await post(url, forged)).status).toBe(401);
    target.stopListening();
    expect(target.requests).toHaveLength(1);
    await running.stop();
    expect(readdirSync(state, { recursive: true }).filter((name) => String(name).endsWith('.json'))).toEqual(
      [],
    );
  });

  it('keeps authentic events while the target is down, in order, over a restart of its own', async () => {
    const state = scratchFolder();
    const target = restartable();
    const port = await freePort();
    const env = { ...keys, XDG_STATE_HOME: state };
    const args = [
      'listen',
      '--port',
      '0',
      '--format',
      'json',
      '--forward-to',
      `http://127.0.0.1:${port}/hook`,
    ];
    const first = start(args, { env });
    const url = await addressOf(first);
    const event = await signedEvent();
    expect(await post(url, event)).toMatchObject({ status: 200, text: '{"received":true}' });
    expect((await post(url, event.replace('A-1', 'A-2'))).status).toBe(401);
    const ended = await first.stop();
    expect(ended.stderr).toContain('1 wait in');
    expect(JSON.parse(ended.stdout.split('\n')[0] ?? '')).toMatchObject({
      forwarded: { kind: 'kept', reason: 'ECONNREFUSED' },
    });

    const second = start(args, { env });
    expect(await second.printed('stderr', /1 of an earlier run wait/)).toBeTruthy();
    await post(await addressOf(second), event);
    await target.up(port);
    await second.printed('stdout', /"late":true/, 2);
    expect(target.bodies).toEqual([event, event]);
    await second.stop();
    expect(readdirSync(state, { recursive: true }).filter((name) => String(name).endsWith('.json'))).toEqual(
      [],
    );
  });

  it('tries what waits again when the target is busy, and gives up only what it refuses', async () => {
    const cwd = scratchFolder();
    const saved = join(cwd, 'events');
    mkdirSync(saved);
    const delivery = { format: 'partner-exchange-delivery/1', headers: [], body: 'one' };
    writeFileSync(join(saved, '1-a.pending.json'), JSON.stringify(delivery));
    writeFileSync(join(saved, '2-b.pending.json'), JSON.stringify({ ...delivery, body: 'two' }));
    const target = await startServer({ status: 500 }, { status: 429 }, { status: 200 }, { status: 404 });
    const running = start(['listen', '--port', '0', '--save', 'events', '--forward-to', target.url], {
      env: keys,
      cwd,
    });
    await running.printed('stdout', /late /, 2);
    expect(target.requests.map(({ body }) => body.toString())).toEqual(['one', 'one', 'one', 'two']);
    expect(readdirSync(saved).sort()).toEqual(['1-a.json', '2-b.refused.json']);
  });

  // 10,000 take a minute on a busy machine: TEST_LISTEN_EVENTS=10000.
  const total = Number(process.env.TEST_LISTEN_EVENTS ?? 300);
  it(`loses nothing of ${total} events while its target is restarted`, { timeout: 300_000 }, async () => {
    const target = restartable();
    const port = await freePort();
    await target.up(port);
    const env = { XDG_STATE_HOME: scratchFolder() };
    const args = ['listen', '--port', '0', '--forward-to', `http://127.0.0.1:${port}/`];
    const running = start(args, { env });
    const url = await addressOf(running);
    let next = 0;
    let restarted = Promise.resolve();
    const refused: number[] = [];
    const sender = async () => {
      for (let index = next++; index < total; index = next++) {
        const { status } = await post(url, JSON.stringify({ index }));
        if (status !== 200) refused.push(index);
        // Four times, at places that are not multiples of anything.
        if (index % Math.ceil(total / 4.3) === 17) {
          restarted = restarted.then(() => target.restart(port));
        }
      }
    };
    await Promise.all(Array.from({ length: 32 }, sender));
    const arrived = () => new Set(target.bodies.map((text) => JSON.parse(text).index)).size;
    await expect.poll(arrived, { timeout: 120_000, interval: 100 }).toBe(total);
    await restarted;
    expect(refused).toEqual([]);
    expect(target.restarts).toBeGreaterThanOrEqual(4);
    await running.stop();
  });
});

/** A receiver that can be taken down in the middle of what it does. */
function restartable() {
  let server: Server | undefined;
  const bodies: string[] = [];
  let restarts = 0;
  onTestFinished(() => void server?.close());

  async function up(port: number): Promise<void> {
    server = createServer(async (incoming, response) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of incoming) parts.push(part);
      } catch {
        return;
      }
      bodies.push(Buffer.concat(parts).toString());
      response.end('ok');
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  async function restart(port: number): Promise<void> {
    restarts++;
    const closed = new Promise((resolve) => server?.close(resolve));
    server?.closeAllConnections();
    await closed;
    await setTimeout(150);
    await up(port);
  }

  return {
    bodies,
    get restarts() {
      return restarts;
    },
    up,
    restart,
  };
}

describe('listen --max-saved-bytes', () => {
  const sizeOf = (folder: string) =>
    readdirSync(folder).reduce(
      (sum, name) => sum + Math.ceil(statSync(join(folder, name)).size / 4096) * 4096,
      0,
    );
  const namesIn = (folder: string, suffix: RegExp) => readdirSync(folder).filter((name) => suffix.test(name));
  const unsigned = /\.unsigned\.json$/;
  const signed = /-[0-9a-f]{8}\.json$/;

  async function listening(cwd: string, more: readonly string[] = [], env: Record<string, string> = keys) {
    const args = ['listen', '--port', '0', '--save', 'events', '--max-saved-bytes', '81920', ...more];
    const running = start(args, { env, cwd });
    return { running, url: await addressOf(running), folder: join(cwd, 'events') };
  }

  it('keeps forged events from filling the disk, and answers them all the same', async () => {
    const { running, url, folder } = await listening(scratchFolder());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => post(url, JSON.stringify({ n, padding: 'x'.repeat(n * 400) }))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(sizeOf(folder)).toBeLessThanOrEqual(81_920);
    expect(namesIn(folder, unsigned).length).toBeGreaterThan(5);
    const { stderr } = await running.stop();
    expect(stderr.match(/The folder is full/g)).toHaveLength(1);
  });

  it('drops the newest unsigned event for a signed one, and no signed one ever', async () => {
    const cwd = scratchFolder();
    const { running, url, folder } = await listening(cwd);
    for (let n = 0; n < 20; n++) await post(url, JSON.stringify({ n }));
    const [oldest] = namesIn(folder, unsigned).sort();
    const event = await signedEvent();
    for (let n = 1; n < 20; n++) expect((await post(url, event)).status).toBe(200);
    expect(namesIn(folder, unsigned)).toEqual([oldest]);
    expect((await post(url, event)).status).toBe(200);
    expect(namesIn(folder, signed)).toHaveLength(20);
    expect((await post(url, event)).status).toBe(503);
    expect((await post(url, '{}')).status).toBe(401);
    const { stderr } = await running.stop();
    expect(stderr).toContain('is full: remove events that you do not need, or raise --max-saved-bytes.');
    expect(sizeOf(folder)).toBe(81_920);

    const again = await listening(cwd);
    expect((await post(again.url, event)).status).toBe(503);
    expect(namesIn(folder, signed)).toHaveLength(20);
  });

  it('notices within a second that files were removed', async () => {
    const clock = { at: Date.UTC(2026, 0, 2) };
    const cwd = scratchFolder();
    const args = ['listen', '--port', '0', '--save', 'events', '--max-saved-bytes', '8192'];
    const url = await addressOf(start(args, { env: keys, cwd, now: () => clock.at }));
    const event = await signedEvent();
    const statuses: (number | undefined)[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await post(url, event)).status);
    const folder = join(cwd, 'events');
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    clock.at += 1000;
    statuses.push((await post(url, event)).status);
    expect(statuses).toEqual([200, 200, 503, 200]);
  });

  it('without keys it acknowledges nothing that it has no room for, in its queue too', async () => {
    const state = scratchFolder();
    const port = await freePort();
    const args = ['listen', '--port', '0', '--forward-to', `http://127.0.0.1:${port}/`];
    const running = start([...args, '--max-saved-bytes', '16384'], { env: { XDG_STATE_HOME: state } });
    const url = await addressOf(running);
    const statuses: (number | undefined)[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await post(url, JSON.stringify({ n }))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 503, 503]);
  });

  it('counts a queue that its receiver has emptied as empty', async () => {
    const receiver = await startServer({ status: 200 });
    const args = ['listen', '--port', '0', '--forward-to', receiver.url, '--max-saved-bytes', '4096'];
    const running = start(args, { env: { ...keys, XDG_STATE_HOME: scratchFolder() } });
    const url = await addressOf(running);
    const event = await signedEvent();
    for (let n = 0; n < 5; n++) expect((await post(url, event)).status).toBe(200);
    expect(receiver.requests).toHaveLength(5);
  });
});
