import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readSavedRequest,
  writeSavedRequest,
} from '../../../src/devtools/cli/deliveries/saved-deliveries.ts';
import { withoutHopHeaders } from '../../../src/devtools/sandbox/hop-headers.ts';
import { closedUrl, startServer } from '../../support/local-server.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, keys } from './support.ts';

const event = 'event.buy.credited.crypto';

describe('trigger', () => {
  it('posts an event that the receiver can verify, as the service posts it', async () => {
    const target = await startServer({ status: 200 });
    const { code, stdout } = await partnerExchange(['trigger', event, '--to', `${target.url}/hook`], {
      env: keys,
    });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^200 \(\d+ ms\) event\.buy\.credited\.crypto\n$/),
    });
    const [request] = target.requests;
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${keys.PARTNER_PUBLIC_KEY}`,
      'content-type': 'application/json',
    });
    const verified = await partnerExchange(['verify'], { env: keys, stdin: request?.body ?? '' });
    expect(verified.code).toBe(0);
  });

  it('changes what is asked for: JSON where it is JSON, otherwise text, at any depth', async () => {
    const target = await startServer({ status: 200 });
    const set = [
      'partner_order_id=A=7',
      'fiat_amount_to_pay=7',
      'transactional_kyc.email=',
      'new.deep.er=[true]',
      'absent=null',
    ];
    const args = ['trigger', event, '--to', target.url, ...set.flatMap((each) => ['--set', each])];
    expect((await partnerExchange(args, { env: keys })).code).toBe(0);
    expect(JSON.parse(target.requests[0]?.body.toString() ?? '')).toMatchObject({
      partner_order_id: 'A=7',
      fiat_amount_to_pay: 7,
      transactional_kyc: { email: '', first_name: expect.any(String) },
      new: { deep: { er: [true] } },
      absent: null,
    });
  });

  it('refuses a --set that would be rounded on the way', async () => {
    const set = 'data.amount=12345678901234567890';
    const args = ['trigger', event, '--to', 'http://127.0.0.1:1', '--set', set];
    const { code, stderr } = await partnerExchange(args, { env: keys });
    expect(code).toBe(2);
    expect(stderr).toContain('data.amount is a number that would be rounded: write it as text, in quotes.');
  });

  it.each(['=x', 'a..b=1', '__proto__.x=1', 'noequals'])('refuses --set %s', async (set) => {
    const args = ['trigger', event, '--to', 'http://127.0.0.1:1', '--set', set];
    expect(await partnerExchange(args, { env: keys })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('set: must be'),
    });
  });

  it.each([
    [401, 0],
    [200, 1],
    [500, 1],
  ])('posts a forgery; an answer of %i to it exits with %i', async (status, code) => {
    const target = await startServer({ status });
    const ended = await partnerExchange(['trigger', event, '--to', target.url, '--forge'], { env: keys });
    expect(ended.code).toBe(code);
    const verified = await partnerExchange(['verify'], { env: keys, stdin: target.requests[0]?.body ?? '' });
    expect(verified.code).toBe(1);
  });

  it('tells of a receiver that is not there or refuses', async () => {
    const url = await closedUrl();
    const ended = await partnerExchange(['trigger', event, '--to', url], { env: keys });
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('no answer (ECONNREFUSED') });
    const slow = await startServer(() => {});
    const late = await partnerExchange(['trigger', event, '--to', slow.url, '--timeout-ms', '50'], {
      env: keys,
    });
    expect(late).toMatchObject({ code: 1, stdout: expect.stringContaining('no answer (timeout') });
  });
});

describe('replay', () => {
  it('posts a bare body as JSON, in the order of the names', async () => {
    const target = await startServer({ status: 200 });
    const cwd = filesIn({ 'b.json': '{"b":1}', 'a.json': '{"a": 1.0}', 'note.txt': 'no' });
    const { code, stderr } = await partnerExchange(['replay', '.', '--to', target.url], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '2 of 2 answered with 2xx.\n' });
    expect(target.requests.map(({ body }) => body.toString())).toEqual(['{"a": 1.0}', '{"b":1}']);
    expect(target.requests[0]?.headers['content-type']).toBe('application/json');
  });

  it.each([
    [
      'a header that HTTP does not allow',
      '{"format":"partner-exchange-delivery/1","headers":[["X-Odd","a\\u0000b"]],"body":"{}"}',
      'X-Odd',
    ],
    [
      'a path that HTTP does not allow',
      '{"format":"partner-exchange-delivery/1","target":"/a b","headers":[],"body":"{}"}',
      'cannot be sent',
    ],
    ['a part missing', '{"format":"partner-exchange-delivery/1","headers":[]}', 'not a complete'],
    ['a later version', '{"format":"partner-exchange-delivery/2"}', 'a newer version'],
  ])(
    'names a file that cannot be sent, with %s, sends the rest, and exits with 1',
    async (_, broken, problem) => {
      const target = await startServer({ status: 200 });
      const cwd = filesIn({ 'a.json': '{"a":1}', 'b.json': broken, 'c.json': '{"c":1}' });
      const args = ['replay', '.', '--to', target.url, '--format', 'json'];
      const { code, stdout, stderr } = await partnerExchange(args, { cwd });
      const [first, second, third] = stdout.trimEnd().split('\n');
      expect({ code, stderr }).toEqual({ code: 1, stderr: '2 of 3 answered with 2xx.\n' });
      expect([first, second, third]).toEqual([
        expect.stringContaining('a.json'),
        expect.stringMatching(/b\.json/),
        expect.stringContaining('c.json'),
      ]);
      expect(second).toContain(problem);
      const bodies = target.requests.map(({ body }) => body.toString());
      expect(bodies).toEqual(['{"a":1}', '{"c":1}']);
    },
  );

  it('exits with 1 if one is refused, and does not follow redirects', async () => {
    const target = await startServer({ status: 302, headers: { location: '/elsewhere' } }, { status: 200 });
    const cwd = filesIn({ 'a.json': '{}', 'b.json': '{}' });
    const { code, stdout } = await partnerExchange(['replay', 'a.json', 'b.json', '--to', target.url], {
      cwd,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^302 .*a\.json\n200 .*b\.json\n$/);
    expect(target.requests).toHaveLength(2);
  });

  it('refuses a folder without deliveries', async () => {
    const args = ['replay', '.', '--to', 'http://127.0.0.1:1'];
    expect(await partnerExchange(args, { cwd: filesIn({}) })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds no .json file'),
    });
  });
});

describe('the file of a delivery', () => {
  it('gives back every byte, header and target', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string())),
        fc.string().map((path) => `/${path}`),
        (body, headers, target) => {
          const text = writeSavedRequest({ receivedAt: '2026-01-02T03:04:05.000Z', target, headers, body });
          const read = readSavedRequest(Buffer.from(text), 'file');
          expect({ ...read, body: [...read.body] }).toEqual({
            receivedAt: '2026-01-02T03:04:05.000Z',
            target,
            headers,
            body: [...body],
          });
        },
      ),
    );
  });

  it('keeps text as text, and a byte order mark', () => {
    const body = Buffer.from('\ufeff{"é": 1.0}');
    const text = writeSavedRequest({ headers: [], body });
    expect(JSON.parse(text).body).toBe('\ufeff{"é": 1.0}');
    expect(Buffer.from(readSavedRequest(Buffer.from(text), 'file').body).equals(body)).toBe(true);
  });

  it('takes anything else for a bare body', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        const bytes = Buffer.from(text);
        expect(readSavedRequest(bytes, 'file')).toEqual({ headers: [], body: bytes });
      }),
    );
  });
});

it('headers of one connection do not travel on', () => {
  const headers = [
    ['Connection', 'close, X-Hop'],
    ['x-hop', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['Host', 'a'],
    ['X-Kept', '2'],
  ] as const;
  expect(withoutHopHeaders(headers)).toEqual([['X-Kept', '2']]);
});
