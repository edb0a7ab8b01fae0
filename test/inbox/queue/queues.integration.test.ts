import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { missingForNats, missingForRabbitmq } from '../../support/private-server.ts';
import { startPrivate } from '../../support/test-servers.ts';
import { eventually, order, receiver } from '../receiver.ts';
import { openQueue, type QueueName } from './queues.ts';

const missing = { rabbitmq: missingForRabbitmq(), nats: missingForNats() };
const present = (['rabbitmq', 'nats'] as const).filter((name) => missing[name] === undefined);
let servers: Awaited<ReturnType<typeof startPrivate<QueueName>>> | undefined;
let opened = 0;

beforeAll(async () => {
  servers = await startPrivate(present);
}, 150_000);
afterAll(() => servers?.stop());

for (const name of ['rabbitmq', 'nats'] as const) {
  describe(`queueInbox over ${name}`, () => {
    if (missing[name] !== undefined) {
      if (!process.env.CI) it.skip(`skipped: there is no ${missing[name]}`, () => {});
      else
        it('is tested', () => {
          throw new Error(`In CI every engine is tested, and there is no ${missing[name]}.`);
        });
      return;
    }

    it('handles each delivery once, tries again what fails, and sets aside what is dead', async () => {
      await using queue = await open();
      const store = memoryStore();
      const options = { send: queue.send, store, maxAttempts: 3 };
      const inbox = queueInbox(options);
      let failures = 0;
      const { webhooks, calls, reports } = receiver(inbox, (id) => {
        if (id === 'poison' || (id === 'slow' && failures++ === 0)) throw new Error('no');
      });
      for (const id of ['A', 'slow', 'poison', 'A', 'B']) await webhooks.receive(order(id));
      await queue.send('no delivery of ours');
      await queue.consume(inbox);
      await eventually(() =>
        expect(calls.toSorted()).toEqual(['A', 'B', 'poison', 'poison', 'poison', 'slow', 'slow']),
      );
      await eventually(async () => expect(await queue.dead()).toBe(2));
      expect(reports.filter(({ outcome }) => outcome === 'dead')).toMatchObject([{ attempt: 3 }]);
      expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
      expect(await inbox.stop()).toBe('drained');
    });

    it('has the messages of a consumer that is gone handled by another one', async () => {
      const name = `restart${opened++}`;
      await using first = await open(name);
      const store = memoryStore();
      const receiving = queueInbox({ send: first.send, store, role: 'receiver' });
      const { webhooks } = receiver(receiving);
      const ids = Array.from({ length: 30 }, (_, index) => `order ${index}`);
      for (const id of ids) expect(await webhooks.receive(order(id))).toMatchObject({ kind: 'stored' });
      await using second = await open(name);
      await using third = await open(name);
      const inboxes = [second, third].map((queue) => ({
        queue,
        inbox: queueInbox({ send: queue.send, store }),
      }));
      const receivers = inboxes.map(({ inbox }) => receiver(inbox));
      for (const { queue, inbox } of inboxes) await queue.consume(inbox);
      await eventually(() =>
        expect(receivers.flatMap(({ calls }) => calls).toSorted()).toEqual(ids.toSorted()),
      );
    });

    async function open(queue = `queue${opened++}`) {
      const found = await openQueue(name, servers?.urls[name] ?? '', queue);
      return { ...found, [Symbol.asyncDispose]: found.close };
    }
  });
}
