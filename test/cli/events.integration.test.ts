import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeSavedRequest } from '../../src/cli/deliveries/saved-deliveries.ts';
import { startServer } from '../support/local-server.ts';
import { partnerExchange } from './run-in-process.ts';
import { addressOf, filesIn, keys, scratchFolder, start } from './support.ts';

const trigger = async (to: string, event: string, order: string, ...more: string[]) =>
  (
    await partnerExchange(['trigger', event, '--to', to, '--set', `partner_order_id=${order}`, ...more], {
      env: keys,
    })
  ).stdout.slice(0, 3);

describe('listen --filter', () => {
  it('forwards and shows what fits; answers and keeps every event', async () => {
    const target = await startServer({ status: 202 });
    const cwd = scratchFolder();
    const filters = ['event=*.credited.*', 'event=event.buy.init', 'order=A-*'];
    const running = start(
      [
        ...['listen', '--port', '0', '--save', 'events', '--forward-to', target.url],
        ...filters.flatMap((filter) => ['--filter', filter]),
      ],
      { env: keys, cwd, now: Date.now },
    );
    const url = await addressOf(running);
    const answers = [
      await trigger(url, 'event.buy.credited.crypto', 'A-1'),
      await trigger(url, 'event.buy.credited.crypto', 'BA-1'),
      await trigger(url, 'event.buy.received.fiat', 'A-2'),
      await trigger(url, 'event.buy.init', 'A-3'),
      await trigger(url, 'event.buy.received.fiat', 'A-4', '--forge'),
    ];
    expect(answers).toEqual(['202', '200', '200', '202', '401']);
    const { stdout, stderr } = await running.stop();
    const orders = target.requests.map(({ body }) => JSON.parse(body.toString()).partner_order_id);
    expect(orders).toEqual(['A-1', 'A-3']);
    expect(stdout.match(/[AB]-\d/g)).toEqual(['A-1', 'A-3']);
    expect(stderr).toContain('3 did not match --filter: answered, and not forwarded.');
    const files = readdirSync(join(cwd, 'events')).sort();
    expect(files.map((file) => file.replace(/^.*-[0-9a-f]{8}/, ''))).toEqual([
      ...Array.from({ length: 4 }, () => '.json'),
      '.unsigned.json',
    ]);
  });

  it('tells kinds apart', async () => {
    const running = start(['listen', '--port', '0', '--filter', 'kind=unknown'], { env: keys });
    const url = await addressOf(running);
    await trigger(url, 'event.buy.init', 'A-1');
    await trigger(url, 'event.buy.init', 'A-2', '--unfamiliar');
    expect((await running.stop()).stdout.match(/A-\d/g)).toEqual(['A-2']);
  });

  it.each(['order', 'order=', 'status=1', 'kind=knwon', '=x'])('refuses %s', async (filter) => {
    const { code, stderr } = await partnerExchange(['listen', '--filter', filter]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('must be') });
  });

  it('takes every character but * as it is, and is quick', async () => {
    const odd = '(a+)+$[.]';
    const filters = ['--filter', `order=${odd}`, '--filter', `order=${'*x'.repeat(20)}!`];
    const running = start(['listen', '--port', '0', ...filters], { env: keys });
    const url = await addressOf(running);
    await trigger(url, 'event.buy.init', odd);
    await trigger(url, 'event.buy.init', 'aaaaa');
    expect((await running.stop()).stdout.split('\n').length).toBe(2);
  });
});

describe('events', () => {
  const at = '20260102T030405678Z';
  const file = (order: string) =>
    writeSavedRequest({
      receivedAt: '2026-01-02T03:04:05.678Z',
      target: '/orders',
      headers: [
        ['X-Kept', 'yes'],
        ['content-type', 'application/json'],
      ],
      body: Buffer.from(`{"event_name":"event.buy.init", "partner_order_id":"${order}", "n":1.0}`),
    });

  async function keptFolder(): Promise<string> {
    return filesIn({
      [`${at}-000001-1a2b3c4d.json`]: file('A-1'),
      [`${at}-000002-1a2b3c4d.refused.json`]: file('A-2'),
      [`${at}-000003-1a2b3c4d.unsigned.json`]: file('A-3'),
      [`${at}-000004-1a2b3c4d.json`]: file('A-1'),
      'note.json': '{"partner_order_id":"not ours"}',
    });
  }

  const itemsOf = ({ stdout }: { stdout: string }): Record<string, string>[] =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('list tells what listen kept, and nothing else', async () => {
    const cwd = await keptFolder();
    const listed = await partnerExchange(['events', 'list', '--folder', '.', '--format', 'json'], { cwd });
    expect(itemsOf(listed).map(({ partner_order_id, state }) => [partner_order_id, state])).toEqual([
      ['A-1', 'done'],
      ['A-2', 'refused'],
      ['A-3', 'unsigned'],
      ['A-1', 'done'],
    ]);
    const { stdout, stderr } = await partnerExchange(['events', 'list', '--folder', '.'], { cwd });
    expect(stdout).toMatch(/^[0-9a-f]{12} 2026-01-02T03:04:05\.678Z event\.buy\.init A-1 done\n/);
    expect(stderr).toBe('4 kept.\n');
  });

  it('resend posts the same bytes and headers, and leaves the files', async () => {
    const target = await startServer({ status: 200 }, { status: 422 });
    const cwd = await keptFolder();
    const names = readdirSync(cwd);
    const listed = await partnerExchange(['events', 'list', '--folder', '.', '--format', 'json'], { cwd });
    const { digest = '' } = itemsOf(listed)[1] ?? {};
    const args = ['events', 'resend', digest.slice(0, 8), '--folder', '.', '--to', target.url];
    const { code, stdout } = await partnerExchange(args, { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(digest.slice(0, 12)) });
    expect(await partnerExchange(args, { cwd })).toMatchObject({ code: 1 });
    expect(target.requests[0]?.body.toString()).toBe(
      '{"event_name":"event.buy.init", "partner_order_id":"A-2", "n":1.0}',
    );
    expect(target.requests[0]).toMatchObject({ url: '/orders', headers: { 'x-kept': 'yes' } });
    expect(readdirSync(cwd)).toEqual(names);
  });

  it('resend asks for more of a digest whose beginning two events share', async () => {
    const bodies = new Map<string, string>();
    let pair: string[] = [];
    for (let n = 0; pair.length === 0; n++) {
      const body = `{"n":${n}}`;
      const start = createHash('sha256').update(body).digest('hex').slice(0, 6);
      const other = bodies.get(start);
      if (other !== undefined) pair = [start, body, other];
      bodies.set(start, body);
    }
    const [start = '', ...both] = pair;
    const files = both.map((body, index) => [
      `${at}-00000${index}-1a2b3c4d.json`,
      writeSavedRequest({ headers: [], body: Buffer.from(body) }),
    ]);
    const target = await startServer({ status: 200 });
    const args = ['events', 'resend', start, '--folder', '.', '--to', target.url];
    const ended = await partnerExchange(args, { cwd: filesIn(Object.fromEntries(files)) });
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Several events begin with ${start}`),
    });
    expect(target.requests).toEqual([]);
  });

  it.each([
    ['abc', 2, 'at least the first six'],
    ['000000', 1, 'There is no kept event 000000'],
  ])('resend says what is wrong with the digest %s', async (digest, code, message) => {
    const args = ['events', 'resend', digest, '--folder', '.', '--to', 'http://127.0.0.1:1'];
    const ended = await partnerExchange(args, { cwd: await keptFolder() });
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it('needs to know where to look, and says where nothing is', async () => {
    expect(await partnerExchange(['events', 'list'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('folder'),
    });
    expect(await partnerExchange(['events', 'list', '--folder', 'missing'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('listen has kept nothing there'),
    });
  });
});
