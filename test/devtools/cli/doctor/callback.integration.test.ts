import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { examineCallback } from '../../../../src/devtools/cli/commands/doctor/callback.ts';
import type { DoctorOptions } from '../../../../src/devtools/cli/commands/doctor/surroundings.ts';
import { createWebhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { closedUrl, startServer } from '../../../support/local-server.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { mountServer } from '../../../webhooks/http/frameworks/mount.ts';
import { surroundingsOf } from './surroundings.ts';

const examined = (url: string, options: Partial<DoctorOptions> = {}) =>
  examineCallback(new URL(url), surroundingsOf(options));

describe('the doctor says of the address of the callback', () => {
  const refusing = { fetch: async () => new Response(null, { status: 401 }) };

  it.each<[string, string[], string, RegExp]>([
    ['https://partner.example/orders', ['93.184.216.34', '2606:2800::1'], 'ok', /is public/],
    ['http://partner.example/orders', ['93.184.216.34'], 'weak', /http:/],
    ['https://8.8.8.8/orders', [], 'ok', /is public/],
    ['https://[2606:4700::1111]/', [], 'ok', /is public/],
    ['https://partner.example/', ['93.184.216.34', '10.1.2.3'], 'broken', /resolves to 10\.1\.2\.3/],
    ['https://partner.example/', ['172.31.255.255'], 'broken', /nobody outside/],
    ['https://partner.example/', ['172.32.0.0'], 'ok', /is public/],
    ['https://partner.example/', ['100.64.0.1'], 'broken', /nobody outside/],
    ['https://partner.example/', ['169.254.169.254'], 'broken', /nobody outside/],
    ['https://partner.example/', ['fd00::1'], 'broken', /nobody outside/],
    ['https://partner.example/', ['::ffff:192.168.0.1'], 'broken', /nobody outside/],
    ['https://192.168.0.7/', [], 'broken', /nobody outside/],
    ['https://localhost:3000/', [], 'broken', /this machine/],
    ['https://receiver/', [], 'broken', /known only inside/],
    ['https://receiver.local./', [], 'broken', /known only inside/],
  ])('%s at %j: %s', async (callback, addresses, verdict, what) => {
    const [first] = await examined(callback, { ...refusing, lookup: async () => addresses });
    expect(first).toMatchObject({ verdict, what: expect.stringMatching(what) });
  });

  it('that it is not given', async () => {
    expect(await examineCallback(undefined, surroundingsOf())).toMatchObject([{ verdict: 'skipped' }]);
  });

  it('that it does not resolve', async () => {
    const what = 'partner.example does not resolve (ENOTFOUND).';
    expect((await examined('http://partner.example/'))[0]).toMatchObject({ verdict: 'broken', what });
  });
});

describe('the doctor says of the receiver at the callback', () => {
  /** Of a receiver on this machine, which nobody outside reaches. */
  const ofReceiver = async (url: string) => (await examined(url, { fetch })).slice(1);

  it('nothing if it refuses a body without a signature, and sends nothing else', async () => {
    const seen: string[] = [];
    const webhooks = createWebhooks({
      credentials,
      onDelivery: ({ outcome }) => void seen.push(outcome),
    }).onAny(() => {});
    const { port, close } = await mountServer(createServer(webhooks.node));
    expect(await ofReceiver(`http://127.0.0.1:${port}/orders`)).toEqual([]);
    expect(seen).toEqual(['refused']);
    await close();
  });

  it.each([
    [200, 'broken', /must refuse it: judge it with partner-exchange attack/],
    [302, 'broken', /must refuse it/],
    [404, 'broken', /Is this the path/],
    [405, 'broken', /Is this the path/],
    [500, 'weak', /Look at the log/],
  ])('that it answers %d: %s', async (status, verdict, advice) => {
    const server = await startServer({ status });
    expect(await ofReceiver(server.url)).toMatchObject([
      {
        verdict,
        what: `A body without a signature is answered with ${status}.`,
        advice: expect.stringMatching(advice),
      },
    ]);
    expect(server.requests.map(({ method, body }) => [method, String(body)])).toEqual([['POST', '{}']]);
  });

  it('that nothing listens at its port: broken', async () => {
    const results = await ofReceiver(await closedUrl());
    expect(results).toMatchObject([{ verdict: 'broken', what: expect.stringContaining('(ECONNREFUSED)') }]);
  });
});
