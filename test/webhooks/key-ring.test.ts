import { describe, expect, it } from 'vitest';
import { createKeyRing, type KeyRingOptions } from '../../src/credentials/create-key-ring.ts';
import type { KeyRing, KeySets, LoadedKeys } from '../../src/credentials/key-ring.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { DeliveryReport, RefusedBody } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { eventSignedBy, generation } from '../credentials/keys.ts';
import { warningsDuring } from './warnings.ts';

/** A receiver whose keys come from a source that the test changes. */
function receiver(first: LoadedKeys | Error, options: Partial<KeyRingOptions & WebhooksOptions> = {}) {
  const source = { keys: first, loads: 0, time: 1_000_000 };
  const ring = createKeyRing({
    load: () => {
      source.loads += 1;
      if (source.keys instanceof Error) throw source.keys;
      return source.keys;
    },
    now: () => source.time,
    onError: () => {},
  });
  const handled: string[] = [];
  const webhooks = createWebhooks({ credentials: ring, ...options }).onUnrecognized((_, { body, key }) => {
    handled.push(`${String(body.partner_order_id)} by ${key.index}`);
  });
  return { source, ring, handled, webhooks };
}

const post = (body: string) =>
  new Request('https://partner.example/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

describe('webhooks with a key ring', () => {
  it('accept an event with new keys without a restart, and one with those before', async () => {
    const { webhooks, source } = receiver(generation(1));
    await webhooks.receive(eventSignedBy(1));
    source.keys = [generation(2), generation(1)];
    source.time += 5_000;
    expect(await webhooks.receive(eventSignedBy(2, 'A-2'))).toMatchObject({
      kind: 'handled',
      key: { index: 0 },
    });
    expect(await webhooks.receive(eventSignedBy(1, 'A-3'))).toMatchObject({
      kind: 'handled',
      key: { index: 1 },
    });
    expect(source.loads).toBe(2);
  });

  it('are not made to load by a flood of forgeries, one after another or at once', async () => {
    const { webhooks, source } = receiver(generation(1));
    await webhooks.receive(eventSignedBy(1));
    for (let second = 0; second < 120; second++) {
      source.time += 1_000;
      const forged = Array.from({ length: 10 }, (_, index) =>
        eventSignedBy('forger', `F-${second}-${index}`),
      );
      const outcomes = await Promise.all(forged.map((body) => webhooks.receive(body)));
      expect(outcomes.filter(({ status }) => status !== 401 && status !== 503)).toEqual([]);
      // Nobody can keep events under the keys of now from being handled.
      expect((await webhooks.receive(eventSignedBy(1, `A-${second}`))).status).toBe(200);
    }
    expect(source.loads).toBe(1 + 120 / 5);
  });

  it.each([
    ['not JSON', 'nothing'],
    ['without a signature', '{"event_name":"event.test"}'],
    ['with a malformed signature', '{"event_name":"event.test","signature":"00"}'],
    ['signed twice', '{"signature":"00","signature":"00"}'],
  ])('are not made to load by a body %s', async (_, body) => {
    const { webhooks, source } = receiver(generation(1));
    await webhooks.receive(eventSignedBy(1));
    source.time += 60_000;
    expect(await webhooks.receive(body)).toMatchObject({ kind: 'refused' });
    expect(source.loads).toBe(1);
  });

  it('go on with the last good keys while loading fails', async () => {
    const { webhooks, source } = receiver(generation(1));
    await webhooks.receive(eventSignedBy(1));
    source.keys = new Error('down');
    source.time += 600_000;
    expect(await webhooks.receive(eventSignedBy(1, 'A-2'))).toMatchObject({ kind: 'handled' });
  });

  it('without any keys answer 503 with Retry-After, tell onDelivery, and keep nothing of the event', async () => {
    const reports: DeliveryReport[] = [];
    const inbox = memoryInbox();
    const { webhooks, source, handled } = receiver(new Error('the vault is sealed'), {
      inbox,
      onDelivery: (report) => reports.push(report),
    });
    const response = await webhooks.fetch(post(eventSignedBy(1)));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toEqual({ error: 'unavailable' });
    expect(reports).toMatchObject([
      { outcome: 'unverified', status: 503, name: undefined, digest: undefined },
    ]);
    // The service sends it again, and it is no repetition.
    source.keys = generation(1);
    source.time += 5_000;
    expect((await webhooks.fetch(post(eventSignedBy(1)))).status).toBe(200);
    expect(handled).toEqual(['A-1 by 0']);
    await inbox.stop();
  });

  it('do not refuse an event under keys that were stored during the cool-down: 503, and 200 when it is repeated', async () => {
    const reports: DeliveryReport[] = [];
    const captured: RefusedBody[] = [];
    const { webhooks, source, handled } = receiver(generation(1), {
      onDelivery: (report) => reports.push(report),
      onRefused: (body) => captured.push(body),
    });
    await webhooks.receive(eventSignedBy(1));
    source.time += 5_000;
    expect((await webhooks.fetch(post(eventSignedBy('forger')))).status).toBe(401);
    // In another process.
    source.keys = [generation(2), generation(1)];
    source.time += 1_800;
    const response = await webhooks.fetch(post(eventSignedBy(2, 'A-2')));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '4']);
    expect(reports.at(-1)).toMatchObject({
      outcome: 'unverified',
      status: 503,
      code: 'keys_cooling_down',
      digest: undefined,
    });
    // A sender may never repeat it.
    expect(captured.map(({ rawBody }) => Buffer.from(rawBody).toString())).toEqual([
      eventSignedBy('forger'),
      eventSignedBy(2, 'A-2'),
    ]);
    source.time += 4_000;
    expect((await webhooks.fetch(post(eventSignedBy(2, 'A-2')))).status).toBe(200);
    expect(handled).toEqual(['A-1 by 0', 'A-2 by 0']);
  });

  it('keep the keys before when a load gives some without the merchant secret, and warn once', async () => {
    const { webhooks, source } = receiver(generation(1));
    await webhooks.receive(eventSignedBy(1));
    const { merchantSecretKey: _, ...bare } = generation(2);
    source.keys = bare;
    source.time += 600_000;
    const warnings = await warningsDuring(async () => {
      expect(await webhooks.receive(eventSignedBy(1, 'A-2'))).toMatchObject({ kind: 'handled' });
      expect(await webhooks.receive(eventSignedBy(1, 'A-3'))).toMatchObject({ kind: 'handled' });
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/merchantSecretKey is missing.*go on with the keys before/),
    ]);
  });

  it('tell the source which keys matched, and do not fail when that fails', async () => {
    const matches: number[] = [];
    const sets: KeySets = {
      signing: generation(2),
      verifying: [generation(2), generation(1)],
      matched: (index) => {
        matches.push(index);
        throw new Error('the storage is down');
      },
    };
    const { webhooks } = receiver(sets, { onRefused: () => {} });
    const warnings = await warningsDuring(async () => {
      expect(await webhooks.receive(eventSignedBy(1))).toMatchObject({ kind: 'handled' });
      expect(await webhooks.receive(eventSignedBy(2, 'A-2'))).toMatchObject({ kind: 'handled' });
    });
    expect(await webhooks.receive(eventSignedBy(3))).toMatchObject({ kind: 'unverified' });
    expect(matches).toEqual([1, 0]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^matched of the keys of a key ring failed/),
    ]);
  });

  it('refuse a forgery that matches no newer keys either, once they are settled', async () => {
    const sets = (name: number): KeySets => ({ signing: generation(name), verifying: [generation(name)] });
    const [older, newer] = [sets(1), sets(2)];
    const ring: KeyRing = {
      loaded: older,
      current: () => older,
      newerThan: async (used) => (used === older ? newer : undefined),
      checkSettled: () => {},
      reload: async () => {},
    };
    const webhooks = createWebhooks({ credentials: ring, onRefused: () => {} });
    expect(await webhooks.receive(eventSignedBy('forger'))).toMatchObject({ status: 401 });
  });

  it('warn once of what matches no key while the newest may have been typed wrong', async () => {
    const { webhooks, source, ring } = receiver({
      ...{ signing: generation(1), verifying: [generation(1)] },
      unconfirmed: () => true,
    });
    await ring.current();
    const warnings = await warningsDuring(async () => {
      for (const order of ['A-1', 'A-2']) {
        source.time += 5_000;
        expect(await webhooks.receive(eventSignedBy('forger', order))).toMatchObject({
          status: 503,
          code: 'keys_unconfirmed',
        });
      }
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/answered 503 .*typed wrong.*\.md#keys_unconfirmed\.$/),
    ]);
  });

  it('with only such keys answer 503, since the configuration is wrong and not the event', async () => {
    const { merchantSecretKey: _, ...bare } = generation(1);
    const { webhooks } = receiver(bare);
    expect(await webhooks.receive(eventSignedBy(1))).toMatchObject({
      kind: 'unverified',
      error: {
        code: 'keys_unavailable',
        message: expect.stringMatching(
          /keys of the key ring cannot verify.*merchantSecretKey is missing.*Correct what the key ring loads/,
        ),
      },
    });
  });
});
