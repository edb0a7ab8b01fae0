import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

const day = 86_400_000;
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
  it('are not kept if they are larger than maxBodyBytes, since anybody can post them', async () => {
    const { rotation, process, coolDown } = await setUp();
    const { webhooks, inbox } = process({ maxBodyBytes: 100 });
    await webhooks.receive(eventSignedBy(1, 'before'));
    await rotation.request(partner);
    coolDown();
    const body = eventSignedBy(2, 'A-1'.padEnd(100));
    expect(await webhooks.receive(body)).toMatchObject({ status: 503, quarantined: false });
    expect(await inbox.counts()).toEqual({ open: 1, dead: 0 });
  });

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

  it('are handled by a process that was started after they came', async () => {
    const { rotation, process, handled, coolDown } = await setUp();
    const dying = process();
    await rotation.request(partner);
    expect(await dying.webhooks.receive(eventSignedBy(2))).toMatchObject({ quarantined: true });
    await dying.inbox.stop();
    await rotation.receive(generation(2));
    coolDown();
    const { inbox } = process();
    await inbox.drain();
    expect(handled).toEqual(['A-1']);
  });

  it('go to the inbox of a process that only receives, as soon as it gets an event under the new keys', async () => {
    const { rotation, process, coolDown } = await setUp({ role: 'receiver' });
    const { webhooks, inbox, reports } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(2, 'A-1'));
    await rotation.receive(generation(2));
    coolDown();
    expect(await webhooks.receive(eventSignedBy(2, 'A-2'))).toMatchObject({ kind: 'stored' });
    await expect.poll(() => inbox.counts()).toEqual({ open: 2, dead: 0 });
    expect(reports.map(({ stage, outcome }) => `${stage} ${outcome}`).toSorted()).toEqual([
      'quarantine stored',
      'receive stored',
      'receive unverified',
    ]);
  });

  it('go to the inbox of a process that only receives, also if it gets no further delivery', async () => {
    const { rotation, process, coolDown } = await setUp({ role: 'receiver' });
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await webhooks.receive(eventSignedBy(2, 'A-1'));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0, quarantined: 1 });
    await rotation.receive(generation(2));
    coolDown();
    await vi.advanceTimersByTimeAsync(2_000);
    await vi.waitFor(async () => expect(await inbox.counts()).toEqual({ open: 1, dead: 0 }));
    expect(vi.getTimerCount()).toBe(0);
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

  it('that reach a replica in its cool-down are kept too', async () => {
    const { rotation, process, handled, coolDown } = await setUp();
    const { webhooks, inbox } = process();
    await webhooks.receive(eventSignedBy(1, 'before'));
    await rotation.receive(generation(2));
    expect(await webhooks.receive(eventSignedBy(2))).toMatchObject({
      code: 'keys_cooling_down',
      quarantined: true,
    });
    coolDown();
    await inbox.drain();
    expect(handled).toEqual(['before', 'A-1']);
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

  it('are handled from behind a forged one, though the keys are not settled', async () => {
    const { rotation, process, handled, coolDown, clock } = await setUp();
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy('forger', 'F-1'));
    clock.time += 1;
    await webhooks.receive(eventSignedBy('right', 'A-1'));
    await rotation.receive(generation('right'));
    await rotation.receive(generation('wrong'));
    coolDown();
    await inbox.drain();
    expect([handled, await inbox.counts()]).toEqual([['A-1'], { open: 0, dead: 0, quarantined: 1 }]);
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

  it('is dropped after quarantineMs in any case', async () => {
    const { rotation, process, clock } = await setUp({ quarantineMs: day });
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy('forger'));
    clock.time += day;
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
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

  it('under plain credentials is answered 401 as ever, and not kept', async () => {
    const { process } = await setUp();
    const { webhooks, inbox } = process({ credentials: generation(1) });
    expect(await webhooks.receive(eventSignedBy('forger'))).toMatchObject({ kind: 'refused', status: 401 });
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
  });
});

describe('the quarantine', () => {
  it('of one partner is not emptied by a receiver of another that shares the store', async () => {
    const { rotation, process, handled, coolDown } = await setUp();
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(2));
    const keys = { ...generation('x'), partnerId: 'P-2' };
    const stranger = process({ credentials: createKeyRing({ load: () => keys }) });
    await stranger.webhooks.receive(eventSignedBy('x', 'X-1'));
    await stranger.inbox.drain();
    expect((await inbox.counts()).quarantined).toBe(1);
    await rotation.receive(generation(2));
    coolDown();
    await inbox.drain();
    expect(handled).toEqual(['X-1', 'A-1']);
  });

  it('is not read as a whole again and again while the keys stay the same', async () => {
    const { rotation, process, handled, coolDown } = await setUp();
    const { webhooks, inbox } = process();
    const quarantine = inbox.quarantine ?? expect.unreachable();
    const list = vi.spyOn(quarantine, 'list');
    await rotation.request(partner);
    for (const order of orders(700)) await webhooks.receive(eventSignedBy('forger', order));
    await webhooks.receive(eventSignedBy(2, 'last'));
    const listedByDrain = async () => {
      list.mockClear();
      await inbox.drain();
      return list.mock.calls.length;
    };
    await inbox.drain();
    expect(await listedByDrain()).toBe(1);
    await rotation.receive(generation(2));
    coolDown();
    expect(await listedByDrain()).toBeGreaterThan(3);
    expect(handled).toEqual(['last']);
  });

  it('is turned off by quarantineMs: 0', async () => {
    const { rotation, process } = await setUp({ quarantineMs: 0 });
    const { webhooks, inbox } = process();
    await rotation.request(partner);
    expect(await webhooks.receive(eventSignedBy(2))).toMatchObject({ status: 503, quarantined: false });
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
  });

  it('keeps a body until the inbox has it: one that the store could not take is handed over later', async () => {
    const { rotation, process, handled, coolDown, store } = await setUp();
    const { webhooks, inbox } = process({ onError: () => {} });
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(2));
    await rotation.receive(generation(2));
    coolDown();
    const { transact } = store;
    store.transact = async (keys, change) => {
      if (keys.some((key) => key.startsWith('inbox/delivery/'))) throw new Error('down');
      return await transact(keys, change);
    };
    await inbox.drain();
    expect([handled, await inbox.counts()]).toEqual([[], { open: 0, dead: 0, quarantined: 1 }]);
    store.transact = transact;
    await inbox.drain();
    expect(handled).toEqual(['A-1']);
  });

  it('that cannot keep answers 503 all the same, and says once that it failed', async () => {
    const { rotation, process, store } = await setUp();
    const { webhooks } = process();
    await rotation.request(partner);
    await webhooks.receive(eventSignedBy(1, 'before'));
    store.transact = async () => {
      throw new Error('down');
    };
    const warnings = await warningsDuring(async () => {
      for (const order of orders(3)) {
        expect(await webhooks.receive(eventSignedBy(2, order))).toMatchObject({
          status: 503,
          quarantined: false,
        });
      }
    });
    expect(warnings.filter(({ message }) => message.includes('quarantine'))).toHaveLength(1);
  });

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

  it('is not there without a store that all processes share', () => {
    expect(queueInbox({ send: async () => {} }).quarantine).toBeUndefined();
  });
});
