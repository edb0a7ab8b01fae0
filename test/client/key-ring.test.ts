import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ObservedAttempt } from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { LoadedKeys } from '../../src/credentials/key-ring.ts';
import { generation } from '../credentials/keys.ts';
import { rejected } from '../support/refusal.ts';
import { deploymentAt, order, partner, requestError, told } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

type Answer = { readonly status?: number; readonly body?: string } | Error;

/** A client with a ring, and a service that answers each public key as the test says. */
function setUp(first: LoadedKeys | Error, answer: (publicKey: string) => Answer) {
  const source = { keys: first, loads: 0, time: 1_000_000 };
  const requests: { key: string; body: string; partnerId: string | null }[] = [];
  const observed: ObservedAttempt[] = [];
  const ring = createKeyRing({
    load: () => {
      source.loads += 1;
      if (source.keys instanceof Error) throw source.keys;
      return source.keys;
    },
    now: () => source.time,
    onError: () => {},
  });
  const client = new ExchangeClient({
    deployment: deploymentAt('http://localhost:1'),
    credentials: ring,
    maxAttempts: 1,
    onRequest: (request) => observed.push(request),
    fetch: async (request) => {
      const key = request.headers.get('authorization')?.replace('Bearer pk_partner_', '') ?? 'none';
      requests.push({ key, body: await request.text(), partnerId: request.headers.get('x-partner-id') });
      const given = answer(key);
      if (given instanceof Error) throw given;
      return new Response(given.body ?? '{"ok":true}', { status: given.status ?? 200 });
    },
  });
  return { client, ring, source, requests, observed, keys: () => requests.map(({ key }) => key) };
}

/** Older keys sign, and newer ones wait for the service. */
const pendingSets = {
  signing: generation(1),
  pending: generation(2),
  verifying: [generation(1), generation(2)],
};

const accepts =
  (...names: string[]) =>
  (key: string) => ({ status: names.includes(key) ? 200 : 401 });

describe('a client with a key ring', () => {
  it('signs each call with the keys that the ring has then', async () => {
    const { client, source, keys } = setUp(generation(1), () => ({}));
    await client.createOrder(order);
    source.keys = [generation(2), generation(1)];
    source.time += 600_000;
    await client.createOrder(order);
    expect(keys()).toEqual(['1', '2']);
  });

  it('loads nothing to onboard a partner, who has no keys yet', async () => {
    const { client, source, keys } = setUp(new Error('there are none'), () => ({}));
    await client.onboard(partner);
    expect([source.loads, keys()]).toEqual([0, ['none']]);
  });

  it('throws keys_unavailable, and sends nothing, while the ring has none', async () => {
    const { client, requests } = setUp(new Error('the vault is sealed'), () => ({}));
    for (const call of [client.createOrder(order), client.regenerateKeys(partner), client.whitelistIp()]) {
      expect(await rejected(call)).toMatchObject({ name: 'KeyError', code: 'keys_unavailable' });
    }
    expect(requests).toEqual([]);
  });

  it.each([401, 403])(
    'repeats an order refused with %i once, with newer keys of the ring',
    async (status) => {
      const { client, source, requests } = setUp(generation(1), (key) => ({
        status: key === '2' ? 200 : status,
      }));
      await client.createOrder(order).catch(() => {});
      source.keys = { ...generation(2), partnerId: 'P-2' };
      source.time += 5_000;
      expect((await client.createOrder(order)).status).toBe(200);
      expect(requests.map(({ key, partnerId }) => [key, partnerId])).toEqual([
        ['1', 'P-1'],
        ['1', 'P-1'],
        ['2', 'P-2'],
      ]);
      // Each is signed with its own key.
      expect(new Set(requests.map(({ body }) => body)).size).toBe(2);
    },
  );

  it('does not repeat it when there are no other keys, and reads them again for each refusal', async () => {
    const { client, source, keys } = setUp([generation(1), generation(0)], accepts());
    for (let call = 0; call < 5; call++) {
      expect(await told(client.createOrder(order))).toMatchObject({
        status: 401,
        outcome: 'refused',
        attempts: 1,
      });
    }
    expect([keys(), source.loads]).toEqual([['1', '1', '1', '1', '1'], 6]);
  });

  it('names the ring and its cool-down when the keys may be older than those of the service', async () => {
    const { client, source } = setUp(generation(1), accepts('2'));
    await client.createOrder(order).catch(() => {});
    source.keys = new Error('the vault is sealed');
    await client.createOrder(order).catch(() => {});
    // Received in another process. A source that fails is left alone for a while.
    source.keys = generation(2);
    source.time += 2_000;
    const error = await requestError(client.createOrder(order));
    expect(error).toMatchObject({ status: 401, outcome: 'refused', attempts: 1 });
    expect(error.headers).toBeInstanceOf(Headers);
    expect(error.body).toEqual({ ok: true });
    expect(error.message).toMatch(
      /Likely the keys are old: The key ring may hold old keys, and reads them again in 3 s \(cooldownMs\): the vault is sealed\. See .*#http_error\.$/,
    );
    source.time += 3_000;
    expect((await client.createOrder(order)).status).toBe(200);
  });

  it('repeats it with the pending keys until they are promoted', async () => {
    const { client, source, keys } = setUp(pendingSets, accepts('2'));
    await client.createOrder(order);
    source.keys = { signing: generation(2), verifying: [generation(1), generation(2)] };
    source.time += 600_000;
    await client.createOrder(order);
    expect(keys()).toEqual(['1', '2', '2']);
  });

  it('gives up after the second refusal, and counts both attempts', async () => {
    const { client, observed } = setUp(pendingSets, accepts());
    expect(await told(client.createOrder(order))).toMatchObject({
      status: 401,
      outcome: 'refused',
      attempts: 2,
    });
    expect(observed.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it.each<[string, Answer]>([
    ['500, after which the service may have acted', { status: 500 }],
    ['400', { status: 400 }],
    ['a broken connection', new Error('reset')],
  ])('does not repeat it after %s', async (_, answer) => {
    const { client, keys } = setUp(pendingSets, () => answer);
    await requestError(client.createOrder(order));
    expect(keys()).toEqual(['1']);
  });

  it('says that the outcome is unknown when the repetition is lost', async () => {
    const { client } = setUp(pendingSets, (key) => (key === '1' ? { status: 401 } : new Error('reset')));
    expect(await told(client.createOrder(order))).toMatchObject({ outcome: 'unknown', attempts: 2 });
  });

  it('says that it was refused, and not that it was never sent, when the repetition cannot be sent', async () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const { client } = setUp(pendingSets, (key) => (key === '1' ? { status: 401 } : refused));
    expect(await told(client.createOrder(order))).toMatchObject({
      code: 'connection_failed',
      outcome: 'refused',
    });
  });

  it('does not repeat a call whose first attempt may have been carried out', async () => {
    const answers = [{ status: 500 }, { status: 401 }, { status: 200 }];
    const { ring } = setUp(pendingSets, () => ({}));
    const client = new ExchangeClient({
      deployment: deploymentAt('http://localhost:1'),
      credentials: ring,
      maxAttempts: 2,
      retry: { firstDelayMs: 0 },
      fetch: async () => new Response('{"ok":true}', answers.shift()),
    });
    expect(await told(client.whitelistIp())).toMatchObject({ status: 401, outcome: 'unknown', attempts: 2 });
  });

  it('does not repeat it for a caller who has given up', async () => {
    const controller = new AbortController();
    const { client, keys } = setUp(pendingSets, () => {
      controller.abort();
      return { status: 401 };
    });
    await requestError(client.createOrder(order, { signal: controller.signal }));
    expect(keys()).toEqual(['1']);
  });

  it('shows no key of any set that it has seen in errors, those of the repetition included', async () => {
    const body = JSON.stringify({ message: 'no: sk_merchant_first plain-second', detail: 'plain-second' });
    const answer = (key: string) => ({ status: key === 'first' ? 401 : 400, body });
    const { client, source } = setUp([generation('first')], answer);
    await client.createOrder(order).catch(() => {});
    source.keys = { ...generation('second'), merchantSecretKey: 'plain-second' };
    source.time += 5_000;
    const error = await requestError(client.createOrder(order));
    expect(error.attempts).toBe(2);
    const shown = error.message + inspect(error) + JSON.stringify(error.body);
    expect(shown).not.toMatch(/sk_merchant_first|plain-second/);
    expect(inspect(client, { depth: 9, showHidden: true })).not.toMatch(/sk_|plain-second/);
  });
});
