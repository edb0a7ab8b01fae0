import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeSavedRequest } from '../../../src/devtools/cli/deliveries/saved-deliveries.ts';
import { startServer } from '../../support/local-server.ts';
import { partnerExchange } from './run-in-process.ts';
import { addressOf, filesIn, keys, scratchFolder, start } from './support.ts';

const trigger = async (to: string, event: string, order: string, ...more: string[]) =>
  (
    await partnerExchange(['trigger', event, '--to', to, '--set', `partner_order_id=${order}`, ...more], {
      env: keys,
    })
  ).stdout.slice(0, 3);

it('listen --save keeps what each sender was answered with, unless the signature is wrong', async () => {
  const target = await startServer({ status: 204 }, { status: 500 });
  const cwd = scratchFolder();
  const running = start(['listen', '--port', '0', '--save', 'events', '--forward-to', target.url], {
    env: keys,
    cwd,
    now: Date.now,
  });
  const url = await addressOf(running);
  await trigger(url, 'event.buy.init', 'A-1');
  await trigger(url, 'event.buy.init', 'A-2');
  await trigger(url, 'event.buy.init', 'A-3', '--forge');
  await running.stop();
  const files = readdirSync(join(cwd, 'events')).sort();
  const answers = files.map((name) => JSON.parse(readFileSync(join(cwd, 'events', name), 'utf8')).answered);
  expect(answers).toEqual([204, 500, undefined]);
});

describe('replay', () => {
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

  it('--list prints what listen kept, and posts nothing', async () => {
    const cwd = await keptFolder();
    const listed = await partnerExchange(['replay', '.', '--list', '--format', 'json'], { cwd });
    expect(
      itemsOf(listed).map(({ partner_order_id, source = '' }) => [partner_order_id, basename(source)]),
    ).toEqual([
      ['A-1', `${at}-000001-1a2b3c4d.json`],
      ['A-2', `${at}-000002-1a2b3c4d.refused.json`],
      ['A-3', `${at}-000003-1a2b3c4d.unsigned.json`],
      ['A-1', `${at}-000004-1a2b3c4d.json`],
      ['not ours', 'note.json'],
    ]);
    const { stdout, stderr } = await partnerExchange(['replay', '.', '--list'], { cwd });
    expect(stdout).toMatch(
      /^[0-9a-f]{12} 2026-01-02T03:04:05\.678Z event\.buy\.init A-1 .*-000001-1a2b3c4d\.json\n/,
    );
    expect(stderr).toBe('5 listed.\n');
  });

  it('--list names a file that cannot be read, and exits with 1', async () => {
    const cwd = await keptFolder();
    writeFileSync(join(cwd, 'later.json'), '{"format":"partner-exchange-delivery/9"}');
    expect(await partnerExchange(['replay', '.', '--list'], { cwd })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('later.json: '),
      stderr: '5 listed.\n',
    });
  });

  it('--only posts the same bytes and headers once, and leaves the files', async () => {
    const target = await startServer({ status: 200 }, { status: 422 }, { status: 200 });
    const cwd = await keptFolder();
    const names = readdirSync(cwd);
    const digests = itemsOf(await partnerExchange(['replay', '.', '--list', '--format', 'json'], { cwd }));
    const only = (index: number) =>
      partnerExchange(
        ['replay', '.', '--only', digests[index]?.digest?.slice(0, 8) ?? '', '--to', target.url],
        { cwd },
      );
    expect(await only(1)).toMatchObject({ code: 0, stdout: expect.stringContaining('.refused.json') });
    expect(await only(1)).toMatchObject({ code: 1 });
    expect(target.requests[0]?.body.toString()).toBe(
      '{"event_name":"event.buy.init", "partner_order_id":"A-2", "n":1.0}',
    );
    expect(target.requests[0]).toMatchObject({ url: '/orders', headers: { 'x-kept': 'yes' } });
    expect(await only(0)).toMatchObject({ code: 0, stderr: '1 of 1 answered with 2xx.\n' });
    expect(readdirSync(cwd)).toEqual(names);
  });

  it('--only asks for more of a digest whose beginning two events share', async () => {
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
    const args = ['replay', '.', '--only', start, '--to', target.url];
    const ended = await partnerExchange(args, { cwd: filesIn(Object.fromEntries(files)) });
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Several deliveries begin with ${start}`),
    });
    expect(target.requests).toEqual([]);
  });

  it.each([
    [['--only', 'abc', '--to', 'http://127.0.0.1:1'], 2, 'at least the first six'],
    [['--only', '000000', '--to', 'http://127.0.0.1:1'], 1, 'The digest of no delivery begins with 000000'],
    [['--only', '000000', '--list'], 1, 'The digest of no delivery begins with 000000'],
    [[], 2, 'Give --to, the address of your receiver, or --list'],
  ])('says what is wrong with %j', async (flags, code, message) => {
    const ended = await partnerExchange(['replay', '.', ...flags], { cwd: await keptFolder() });
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});
