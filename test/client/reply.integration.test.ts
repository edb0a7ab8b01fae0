import { gzipSync } from 'node:zlib';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { startServer } from '../support/local-server.ts';
import { processorMs } from '../support/timing.ts';
import { exchangeAt, requestError, schemaOf, sendMessage, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('the body of a reply', () => {
  it.each<[string, string | Uint8Array, unknown]>([
    ['an object', '{"id":"A-1","amount":1.5}', { id: 'A-1', amount: 1.5 }],
    ['null', 'null', null],
    ['an object behind a byte order mark', '\uFEFF{"id":1}', { id: 1 }],
    ['text', 'done', 'done'],
    ['JSON cut short', '{"id":', '{"id":'],
    ['nothing', '', undefined],
    ['white space', ' \r\n', undefined],
    ['text that is not UTF-8', Uint8Array.of(0x6f, 0x6b, 0xff), 'ok\uFFFD'],
  ])('is what it says: %s', async (_, body, expected) => {
    const server = await startServer({ body });
    const reply = await whitelistIp(server.url);
    expect(reply.body).toEqual(expected);
  });

  it('is parsed as JSON whatever its content type', async () => {
    const server = await startServer({ headers: { 'content-type': 'text/plain' }, body: '{"id":1}' });
    expect((await sendMessage(server.url)).body).toEqual({ id: 1 });
  });
});

it('a reply has its headers', async () => {
  const server = await startServer({ headers: { 'x-request-id': 'r-17' } });
  expect((await sendMessage(server.url)).headers.get('x-request-id')).toBe('r-17');
});

describe('a reply larger than 1 MiB', () => {
  const tooLarge = { code: 'reply_too_large', outcome: 'unknown', status: 200, attempts: 1 };
  const most = 1_048_576;

  it('is refused by its size after decompression', async () => {
    const body = gzipSync('0'.repeat(most + 1));
    const server = await startServer({ headers: { 'content-encoding': 'gzip' }, body });
    expect(await told(sendMessage(server.url))).toEqual(tooLarge);
  });

  it('is not read further, and its connection is closed', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const server = await startServer((response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await told(sendMessage(server.url))).toEqual(tooLarge);
    await closed;
  });

  it('leaves the status of an error as it is; one of exactly that size is read', async () => {
    const server = await startServer({ status: 400, body: 'x'.repeat(most + 1) }, { body: 'x'.repeat(most) });
    expect(await told(sendMessage(server.url))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status: 400,
      attempts: 1,
    });
    expect((await whitelistIp(server.url)).body).toBe('x'.repeat(most));
  });
});

describe('a schema for the reply', () => {
  it('finds fault with all of a long reply in linear time', async () => {
    const server = await startServer({ status: 200, body: `[${'0,'.repeat(100_000)}0]` });
    const begun = processorMs();
    const error = await requestError(exchangeAt(server.url).whitelistIp({ schema: z.array(z.string()) }));
    expect(error.issues).toHaveLength(100_001);
    expect(processorMs() - begun).toBeLessThan(5_000);
  });

  const receipt = z.object({ id: z.string() });

  it('returns and types what it makes of the body', async () => {
    const server = await startServer({ body: '{"id":"A-1"}' });
    const schema = receipt.transform(({ id }) => ({ reference: id }));
    const reply = await exchangeAt(server.url).whitelistIp({ schema });
    expectTypeOf(reply.body).toEqualTypeOf<{ reference: string }>();
    expect(reply.body).toEqual({ reference: 'A-1' });
  });

  it('that does not fit says where, and that the service may have acted', async () => {
    const server = await startServer({ body: '{"id":7}' });
    const error = await requestError(exchangeAt(server.url).whitelistIp({ schema: receipt }));
    const { code, outcome, status, attempts, assumptions } = error;
    expect({ code, outcome, status, attempts, assumptions }).toEqual({
      code: 'reply_nonconforming',
      outcome: 'unknown',
      status: 200,
      attempts: 1,
      assumptions: ['replies'],
    });
    expect(error.issues).toMatchObject([{ path: ['id'] }]);
  });

  it.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new TypeError('no such member');
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('no such member'))],
  ])('that %s does not hide that the service acted', async (_, validate) => {
    const server = await startServer({ body: '{"id":7}' });
    const error = await requestError(exchangeAt(server.url).whitelistIp({ schema: schemaOf(validate) }));
    expect(error).toMatchObject({ code: 'reply_nonconforming', outcome: 'unknown', status: 200 });
    expect(error.cause).toMatchObject({ message: 'no such member' });
  });
});
