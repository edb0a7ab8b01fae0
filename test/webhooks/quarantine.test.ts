import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import type { QueueMessage } from '../../src/inbox/queue/queue-message.ts';
import { type StoreInboxOptions, storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { partner } from '../client/clients.ts';
import { eventSignedBy, generation } from '../credentials/keys.ts';
import { warningsDuring } from './warnings.ts';

const cooldownMs = 5_000;

/** A rotation, and processes that receive over one store, each with a ring of its own. */
async function setUp(inboxOptions: Partial<StoreInboxOptions> = {}) {
  const clock = { time: 1_700_000_000_000 };
  const now = () => clock.time;
  const [store, storage] = [memoryStore({ now }), storedKeys({ store: memoryStore({ now }) })];
  const exchange = {
    regenerateKeys: async () => ({ status: 200, headers: new Headers(), body: {}, decimal: () => undefined }),
  };
  const rotation = createKeyRotation({ storage, exchange, now });
  await rotation.receive(generation(1));
  const handled: string[] = [];

  function process(options: WebhooksOptions = {}) {
    const ring = createKeyRing({ load: createKeyRotation({ storage, now }).credentials, now, cooldownMs });
    const inbox = storeInbox({ store, now, role: 'drain', ...inboxOptions });
    // Otherwise what is kept is reviewed for as long as the process runs.
    onTestFinished(async () => void (await inbox.stop()));
    const reports: DeliveryReport[] = [];
    const webhooks = createWebhooks({
      credentials: ring,
      inbox,
      onDelivery: (report) => reports.push(report),
      onRefused: () => {},
      ...options,
    }).onUnrecognized((_, { body }) => {
      handled.push(String(body.partner_order_id));
    });
    return { ring, inbox, reports, webhooks };
  }

  return {
    ...{ clock, store, rotation, handled, process },
    coolDown() {
      clock.time += cooldownMs;
    },
    stored: async () => JSON.stringify(await store.list({ prefix: '', limit: 1000 })),
  };
}

const orders = (count: number) => Array.from({ length: count }, (_, index) => `A-${index}`);

describe('events under keys that have not come, from a service that never repeats', () => {
  it('are all handled once the keys are received, exactly once, by two processes over one store', async () => {
    const { rotation, process, handled, coolDown, stored } = await setUp();
    const [one, other] = [process(), process()];
    for (const { webhooks } of [one, other]) await webhooks.receive(eventSignedBy(1, 'before'));
    await rotation.request(partner);
    coolDown();
    for (const [index, order] of orders(48).entries()) {
      const { webhooks } = index % 2 === 0 ? one : other;
      const body = eventSignedBy(2, order);
      // Some of them come twice, as bytes or as text, also to the other process.
      expect(await webhooks.receive(Buffer.from(body))).toMatchObject({ status: 503, quarantined: true });
      if (index % 5 === 0) await one.webhooks.receive(body);
    }
    expect(await one.inbox.counts()).toEqual({ open: 1, dead: 0, quarantined: 48 });
    await Promise.all([one.inbox.drain(), other.inbox.drain()]);
    // Nothing unverified reaches a handler.
    expect(handled).toEqual(['before']);

    await rotation.receive(generation(2));
    coolDown();
    // Neither gets a further delivery.
    await Promise.all([one.inbox.drain(), other.inbox.drain()]);
    await Promise.all([one.inbox.drain(), other.inbox.drain()]);
    expect(handled.toSorted()).toEqual(['before', ...orders(48)].toSorted());
    expect(await one.inbox.counts()).toEqual({ open: 0, dead: 0 });
    expect(await stored()).not.toContain('A-7');
    // The service does repeat one.
    expect(await other.webhooks.receive(eventSignedBy(2, 'A-7'))).toMatchObject({ kind: 'duplicate' });
  });

  it('are handled once, though their process dies before it could forget that it kept them', async () => {
    const { rotation, process, handled, coolDown, store } = await setUp();
    const dying = process();
    await rotation.request(partner);
    await dying.webhooks.receive(eventSignedBy(2, 'A-1'));
    await rotation.receive(generation(2));
    coolDown();
    const { transact } = store;
    store.transact = async (keys, change) => {
      if (keys.includes('inbox/unverified/room')) throw new Error('killed');
      return await transact(keys, change);
    };
    await warningsDuring(() => dying.inbox.drain());
    store.transact = transact;
    expect(handled).toEqual(['A-1']);
    const { inbox } = process();
    expect((await inbox.counts()).quarantined).toBe(1);
    await inbox.drain();
    expect([handled, await inbox.counts()]).toEqual([['A-1'], { open: 0, dead: 0 }]);
  });

  it('are kept while the keys may have been typed wrong, and handled under the right ones', async () => {
    const { rotation, process, handled, coolDown } = await setUp();
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(2, 'A-1'));
    await rotation.receive(generation('wrong'));
    await rotation.promote();
    coolDown();
    expect(await webhooks.receive(eventSignedBy(2, 'A-2'))).toMatchObject({
      status: 503,
      code: 'keys_unconfirmed',
      quarantined: true,
    });
    await inbox.drain();
    expect([handled, await inbox.counts()]).toEqual([[], { open: 0, dead: 0, quarantined: 2 }]);
    await rotation.receive(generation(2));
    coolDown();
    await inbox.drain();
    expect([handled.toSorted(), await inbox.counts()]).toEqual([['A-1', 'A-2'], { open: 0, dead: 0 }]);
    // Their match has settled the keys, in every process.
    const started = process();
    await started.ring.current();
    coolDown();
    expect(await started.webhooks.receive(eventSignedBy('forger'))).toMatchObject({ status: 401 });
  });
});

describe('a forged body', () => {
  it('is dropped once the keys are settled, and no handler gets it', async () => {
    const { rotation, process, handled, coolDown, stored } = await setUp();
    const { webhooks, inbox, reports } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy('forger', 'marker-of-forger'));
    expect(await stored()).toContain('marker-of-forger');
    await rotation.receive(generation(2));
    coolDown();
    await webhooks.receive(eventSignedBy(2, 'A-1'));
    coolDown();
    await inbox.drain();
    expect([handled, await inbox.counts()]).toEqual([['A-1'], { open: 0, dead: 0 }]);
    expect(await stored()).not.toContain('marker-of-forger');
    expect(reports).toContainEqual(
      expect.objectContaining({ stage: 'quarantine', outcome: 'refused', code: 'signature_mismatch' }),
    );
  });

  it('fills the quarantine with others like it at most, and the operator hears of that once', async () => {
    const { rotation, process } = await setUp({ maxQuarantined: 10 });
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(1, 'before'));
    const warnings = await warningsDuring(async () => {
      const kept = await Promise.all(
        orders(100).map((order) => webhooks.receive(eventSignedBy('forger', order))),
      );
      expect(kept.filter((outcome) => 'quarantined' in outcome && outcome.quarantined)).toHaveLength(10);
    });
    expect((await inbox.counts()).quarantined).toBe(10);
    const told = warnings.filter(({ message }) => message.includes('quarantine'));
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining('maxQuarantined')]);
  });
});

describe('the quarantine', () => {
  it('of a queue inbox sends to the queue what the new keys have signed, when a message is handled', async () => {
    const { clock, store, rotation, coolDown } = await setUp();
    const now = () => clock.time;
    const messages: QueueMessage[] = [];
    const inbox = queueInbox({ send: async (message) => messages.push(message), store, now });
    const ring = createKeyRing({ load: rotation.credentials, now, cooldownMs });
    const handled: string[] = [];
    const webhooks = createWebhooks({ credentials: ring, inbox, onRefused: () => {} });
    webhooks.onUnrecognized((_, { body }) => {
      handled.push(String(body.partner_order_id));
    });
    await webhooks.receive(eventSignedBy(1, 'before'));
    await rotation.request(partner);
    coolDown();
    await webhooks.receive(eventSignedBy(2));
    await rotation.receive(generation(2));
    coolDown();
    expect(await inbox.handleMessage(messages[0])).toBe('done');
    await expect.poll(() => messages.length).toBe(2);
    expect(await inbox.handleMessage(messages[1])).toBe('done');
    expect(handled).toEqual(['before', 'A-1']);
    await inbox.stop();
  });

  it('of one partner is not emptied by a receiver of another that shares the store', async () => {
    const { rotation, process, handled, coolDown } = await setUp();
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(2));
    const keys = { ...generation('x'), partnerId: 'P-2' };
    const stranger = process({ credentials: createKeyRing({ load: () => keys, cooldownMs: 0 }) });
    await stranger.webhooks.receive(eventSignedBy('x', 'X-1'));
    await stranger.inbox.drain();
    expect((await inbox.counts()).quarantined).toBe(1);
    await rotation.receive(generation(2));
    coolDown();
    await inbox.drain();
    expect(handled).toEqual(['X-1', 'A-1']);
  });
});
