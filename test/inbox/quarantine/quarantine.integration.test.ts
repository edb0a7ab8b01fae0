import { afterAll, describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/credentials/create-key-ring.ts';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import { createKeyRotation } from '../../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../../src/keys/stored-keys.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { partner } from '../../client/clients.ts';
import { eventSignedBy, generation } from '../../credentials/keys.ts';
import { isThorough } from '../../support/repeat.ts';
import { skipped } from '../../support/skipped.ts';
import { quietWebhooks } from '../../webhooks/deliveries.ts';
import { engines } from '../engines.ts';
import { eventually, quick } from '../receiver.ts';

const marker = 'marker-of-quarantine';
const orders = Array.from({ length: 48 }, (_, index) => `${marker}-${index}`);
/** It keeps nothing that it cannot verify. */
const unable = ['memory'];

/** A rotation whose new keys were asked for, and receivers that each have a ring of their own. */
async function setUp() {
  const exchange = {
    regenerateKeys: async () => ({ status: 200, headers: new Headers(), body: {}, decimal: () => undefined }),
  };
  const storage = storedKeys({ store: memoryStore() });
  const rotation = createKeyRotation({ storage, exchange });
  await rotation.receive(generation(1));
  await rotation.request(partner);
  const handled: string[] = [];
  function receiver(inbox: Inbox) {
    const ring = createKeyRing({ load: createKeyRotation({ storage }).credentials, cooldownMs: 0 });
    return quietWebhooks({ credentials: ring, inbox, onRefused: () => {} }).onUnrecognized((_, { body }) => {
      handled.push(String(body.partner_order_id));
    });
  }
  return { rotation, handled, receiver };
}

/** The one whose free pages could keep a body; `npm run prove` tries all. */
const everyday = ['sqlite'];

const keeping = engines.filter(({ name }) => !unable.includes(name));

for (const engine of keeping.filter(({ name }) => isThorough || everyday.includes(name))) {
  const { missing } = engine;
  describe(`the ${engine.name} inbox`, skipped(missing), () => {
    afterAll(() => engine.remove());

    it('handles 48 events under keys that had not come, once, though neither process gets another delivery', async () => {
      const store = await engine.open();
      const { rotation, handled, receiver } = await setUp();
      const inboxes = [store.inbox(quick), store.inbox(quick)] as const;
      const [one, other] = inboxes.map(receiver);
      const outcomes = await Promise.all(
        orders.map(async (order, index) => (index % 2 === 0 ? one : other)?.receive(eventSignedBy(2, order))),
      );
      expect(outcomes.filter((each) => each?.status !== 503 || !Object(each).quarantined)).toEqual([]);
      // Equal bytes once, in whichever process.
      expect(await other?.receive(eventSignedBy(2, orders[0]))).toMatchObject({ quarantined: true });
      expect(await inboxes[0].counts()).toEqual({ open: 0, dead: 0, quarantined: 48 });
      expect(await store.raw()).toContain(marker);
      await rotation.receive(generation(2));
      await eventually(() => expect(handled).toHaveLength(48));
      await eventually(async () => expect(await inboxes[1].counts()).toEqual({ open: 0, dead: 0 }));
      expect(handled.toSorted()).toEqual(orders.toSorted());
      expect(await one?.receive(eventSignedBy(2, orders[3]))).toMatchObject({ kind: 'duplicate' });
      await Promise.all(inboxes.map((inbox) => inbox.stop()));
      expect(await store.raw()).not.toContain(marker);
      await store.close();
    });
  });
}

it.each(unable)('the %s inbox answers 503 as ever, and keeps nothing', async (name) => {
  const store = await engines.find((engine) => engine.name === name)?.open();
  const inbox = store?.inbox(quick) ?? expect.unreachable();
  const { receiver } = await setUp();
  expect(await receiver(inbox).receive(eventSignedBy(2))).toMatchObject({ status: 503, quarantined: false });
  expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
  await store?.close();
});
