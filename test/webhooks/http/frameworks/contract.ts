import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { nextTurn } from '../../../support/next-turn.ts';
import { delivery, quietWebhooks } from '../../deliveries.ts';
import { rawConnection, send } from '../server.ts';
import type { Mounted } from './mount.ts';

/** How a transport differs from others, and why. */
export interface Differences {
  /** Who refuses a body that does not arrive: the webhooks, the server around a framework that reads it, or nobody here. */
  readonly slowBody?: 'webhooks' | 'server' | { readonly notHere: string };
  readonly clientAbort?: { readonly notHere: string };
  /** Whether a body parser before the webhooks refuses JSON in another charset than UTF-8. */
  readonly jsonCharset?: { readonly notHere: string };
  /** Whether a body parser before the webhooks has inflated a compressed body, and kept its header. */
  readonly compressed?: 'inflated';
  /** Who answers other methods than POST; the framework's own answer has no Allow header of ours. */
  readonly otherMethods?: 'webhooks' | 'framework';
}

const sent = delivery(buyInitBody({ note: 'é😀' }));
const bytes = Buffer.from(sent);
const json = { 'content-type': 'application/json' };
const latin1Json = 'application/json; charset=iso-8859-1';

/** A body of more than 2000 bytes, of which a test says that it is too large. */
const large = delivery(buyInitBody({ filler: 'x'.repeat(2000) }));

/** What every way of mounting the webhooks has to do. */
export function describeFramework(
  name: string,
  mount: (webhooks: Webhooks) => Promise<Mounted>,
  {
    slowBody = 'webhooks',
    clientAbort,
    jsonCharset,
    compressed,
    otherMethods = 'webhooks',
  }: Differences = {},
): void {
  describe(name, () => {
    it('handles an authentic event and answers 200', async () => {
      await using app = await start(mount);
      const answer = await send(app.port, { headers: json, body: sent });
      expect([answer.status, answer.body]).toEqual([200, '{"received":true}']);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
      });
      expect(app.handled).toMatchObject([{ event_name: 'event.buy.init', note: 'é😀' }]);
    });

    it('refuses a forged one with 401', async () => {
      await using app = await start(mount);
      const body = sent.replace('A-1001', 'A-1002');
      const answer = await send(app.port, { headers: json, body });
      expect([answer.status, answer.body]).toEqual([401, '{"error":"signature_mismatch"}']);
      expect(app.handled).toEqual([]);
    });

    it('answers 500 when the handler fails, and handles the repetition', async () => {
      await using app = await start(mount, {}, 1);
      const answer = await send(app.port, { headers: json, body: sent });
      expect([answer.status, answer.body]).toEqual([500, '{"error":"handler_failed"}']);
      expect((await send(app.port, { headers: json, body: sent })).status).toBe(200);
      expect(app.handled).toHaveLength(1);
    });

    it.each([
      ['with a length', large],
      ['without one', [Buffer.from(large).subarray(0, 900), Buffer.from(large).subarray(900)]],
    ])('refuses a body that is too large with 413, %s', async (_, body) => {
      await using app = await start(mount, { maxBodyBytes: 2000 });
      const answer = await send(app.port, { headers: json, body });
      expect([answer.status, answer.body]).toEqual([413, '{"error":"body_too_large"}']);
      expect(app.handled).toEqual([]);
    });

    it('puts a body together that was cut inside a character', async () => {
      await using app = await start(mount);
      const cut = bytes.indexOf('😀') + 2;
      const connection = rawConnection(app.port);
      await connection.write(head(bytes.length, 'Connection: close\r\n'));
      await connection.write(bytes.subarray(0, cut));
      await nextTurn();
      await connection.write(bytes.subarray(cut));
      expect(await connection.received()).toMatch(/^HTTP\/1\.1 200 /);
      expect(app.handled).toMatchObject([{ note: 'é😀' }]);
    });

    it('gives up on a body that does not arrive: 408, and the connection is closed', async ({ skip }) => {
      if (typeof slowBody === 'object') return skip(slowBody.notHere);
      // real time: the body that is to arrive comes with its head.
      await using app = await start(mount, { bodyTimeoutMs: slowBody === 'webhooks' ? 100 : 60_000 });
      const connection = rawConnection(app.port);
      await connection.write(head(bytes.length));
      await connection.write(bytes.subarray(0, 100));
      // Resolves when the server has closed the connection.
      const received = await connection.received();
      expect(received).toMatch(/^HTTP\/1\.1 408 /);
      if (slowBody === 'webhooks') expect(received).toMatch(/\{"error":"body_timeout"\}/);
      expect(app.handled).toEqual([]);
      expect((await send(app.port, { headers: json, body: sent })).status).toBe(200);
    });

    it('goes on after a caller that broke off', async ({ skip }) => {
      if (clientAbort) return skip(clientAbort.notHere);
      await using app = await start(mount);
      const connections = Array.from({ length: 20 }, () => rawConnection(app.port));
      for (const connection of connections) {
        await connection.write(head(bytes.length));
        await connection.write(bytes.subarray(0, 100));
      }
      // Where a framework reads the body, the webhooks do not get to see them.
      const seen = slowBody === 'webhooks' ? connections.length : 0;
      await vi.waitFor(() => expect(app.requests).toEqual({ begun: seen, pending: seen }));
      for (const connection of connections) connection.abort();
      // Long before the body would be late.
      await vi.waitFor(() => expect(app.requests.pending).toBe(0));
      expect((await send(app.port, { headers: json, body: sent })).status).toBe(200);
      expect(app.handled).toHaveLength(1);
    });

    it.each(['GET', 'PUT'])('refuses %s with 405', async (method) => {
      await using app = await start(mount);
      const body = method === 'PUT' ? { headers: json, body: sent } : {};
      const answer = await send(app.port, { method, ...body });
      expect(answer.status).toBe(405);
      if (otherMethods === 'webhooks') expect(answer.headers).toMatchObject({ allow: 'POST' });
      expect(app.handled).toEqual([]);
    });

    it('answers HEAD with headers alone', async () => {
      await using app = await start(mount);
      const connection = rawConnection(app.port);
      await connection.write('HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      expect(await connection.received()).toMatch(/^HTTP\/1\.1 405 .*\r\n\r\n$/s);
    });

    it.for(['text/plain', 'multipart/form-data', latin1Json, ';;', undefined])(
      'handles an authentic event whose content type is %j',
      async (type, { skip }) => {
        if (jsonCharset && type === latin1Json) return skip(jsonCharset.notHere);
        await using app = await start(mount);
        const headers = type === undefined ? {} : { 'content-type': type };
        const answer = await send(app.port, { headers, body: sent });
        expect([answer.status, answer.body]).toEqual([200, '{"received":true}']);
        expect(app.handled).toMatchObject([{ event_name: 'event.buy.init', note: 'é😀' }]);
      },
    );

    const isInflated = compressed === 'inflated';
    it(`${isInflated ? 'handles' : 'refuses with 400'} a body that is compressed`, async () => {
      await using app = await start(mount);
      const answer = await send(app.port, {
        headers: { ...json, 'content-encoding': 'gzip' },
        body: gzipSync(sent),
      });
      expect(answer.status).toBe(isInflated ? 200 : 400);
      expect(app.handled).toHaveLength(isInflated ? 1 : 0);
    });
  });
}

async function start(
  mount: (webhooks: Webhooks) => Promise<Mounted>,
  options: { maxBodyBytes?: number; bodyTimeoutMs?: number } = {},
  failures = 0,
) {
  const handled: unknown[] = [];
  let failing = failures;
  const webhooks = quietWebhooks(options).onAny((event) => {
    if (failing-- > 0) throw new Error('the database is at 10.0.0.7');
    handled.push(event);
  });
  const requests = { begun: 0, pending: 0 };
  const counted =
    <Parameters extends unknown[], Result>(take: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      requests.begun++;
      requests.pending++;
      return await take(...parameters).finally(() => requests.pending--);
    };
  const { port, close } = await mount({
    ...webhooks,
    node: counted(webhooks.node),
    fetch: counted(webhooks.fetch),
  });
  return { port, handled, requests, [Symbol.asyncDispose]: close };
}

function head(length: number, more = ''): string {
  return `POST / HTTP/1.1\r\nHost: partner.example\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;
}
