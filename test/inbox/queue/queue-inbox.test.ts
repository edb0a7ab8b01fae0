import { describe, expect, it } from 'vitest';
import { type QueueInbox, queueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import type { QueueMessage } from '../../../src/inbox/queue/queue-message.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { Webhooks } from '../../../src/webhooks/create-webhooks.ts';
import { gate, quietWebhooks } from '../../webhooks/deliveries.ts';
import { warningsDuring } from '../../webhooks/warnings.ts';
import { order } from '../receiver.ts';
import { guarded, open } from './queue-for-tests.ts';

describe('queueInbox', () => {
  it('hands a delivery to the queue as one message, and handles the message', async () => {
    const errors: unknown[] = [];
    const { webhooks, inbox, messages, calls, reports } = open({
      onStoreError: (error) => errors.push(error),
    });
    const body = order('A');
    expect(await webhooks.receive(body)).toMatchObject({ kind: 'stored', status: 200 });
    expect(messages).toStrictEqual([
      {
        v: 1,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        name: 'event.buy.init',
        key: { index: 0 },
        body,
        receivedAt: expect.any(Number),
      },
    ]);
    expect([calls, errors]).toEqual([[], []]);
    const text = JSON.stringify(messages[0]);
    for (const message of [messages[0], text, new TextEncoder().encode(text)])
      expect(await inbox.handleMessage(message)).toBe('done');
    // Without a store nobody knows that it is the same.
    expect(calls).toEqual(['A', 'A', 'A']);
    expect(reports).toEqual(Array(3).fill(['handled', 1]));
  });

  it.each<[string, () => Promise<unknown>]>([
    ['fails', () => Promise.reject(new Error('down'))],
    ['does not answer', () => new Promise(() => {})],
  ])('acknowledges nothing when the queue %s', async (_, send) => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const { webhooks } = open({ send, storeTimeoutMs: 20, store: memoryStore() });
    for (let tries = 0; tries < 2; tries++)
      expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'unavailable', status: 503 });
  });

  it.each<[string, (inbox: QueueInbox, webhooks: Webhooks) => unknown]>([
    ['any event', () => {}],
    ['this event', (_, webhooks) => webhooks.on('buy.event.close', () => {})],
  ])(
    'has a message tried again, without an attempt, while no handler is registered for %s',
    async (_, register) => {
      const clock = { now: 1_800_000_000_000 };
      const now = () => clock.now;
      const messages: QueueMessage[] = [];
      const store = memoryStore({ now });
      const open = () =>
        queueInbox({ send: async (message) => messages.push(message), store, now, maxAttempts: 1 });
      const inbox = open();
      const webhooks = quietWebhooks({ inbox });
      register(inbox, webhooks);
      await webhooks.receive(order('A'));
      for (let tries = 0; tries < 3; tries++) expect(await inbox.handleMessage(messages[0])).toBe('retry');
      const next = open();
      const calls: string[] = [];
      quietWebhooks({ inbox: next }).on('event.buy.init', ({ partner_order_id }) =>
        calls.push(partner_order_id),
      );
      expect(await next.handleMessage(messages[0])).toBe('done');
      expect(calls).toEqual(['A']);
    },
  );

  it('is done with a message that nothing is registered for after ten minutes, also if the clock was set back', async () => {
    const clock = { now: 1_800_000_000_000 };
    const now = () => clock.now;
    const messages: QueueMessage[] = [];
    const send = async (message: QueueMessage) => messages.push(message);
    const inbox = queueInbox({ send, store: memoryStore({ now }), now });
    await quietWebhooks({ inbox })
      .on('buy.event.close', () => {})
      .receive(order('A'));
    clock.now -= 86_400_000;
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    clock.now += 600_000;
    expect(await inbox.handleMessage(messages[0])).toBe('done');
  });

  it.each([1, 3])(
    'leaves it to the queue to give up, unless it is told the number of the attempt, of %i',
    async (maxAttempts) => {
      const { webhooks, inbox, messages, reports } = open({ maxAttempts }, () => {
        throw new Error('no');
      });
      await webhooks.receive(order('A'));
      for (let tries = 0; tries < 5; tries++) expect(await inbox.handleMessage(messages[0])).toBe('retry');
      for (let attempt = 1; attempt < maxAttempts; attempt++)
        expect(await inbox.handleMessage(messages[0], { attempt })).toBe('retry');
      expect(await inbox.handleMessage(messages[0], { attempt: maxAttempts })).toBe('dead');
      expect(reports.at(-1)).toEqual(['dead', maxAttempts]);
    },
  );

  it('stops: handlers end or are aborted, and nothing is accepted any more', async () => {
    const begun = gate();
    const { webhooks, inbox, messages, reports, openAnother } = guarded({ maxAttempts: 1 }, () => {
      begun.open();
      return new Promise(() => {});
    });
    await webhooks.receive(order('A'));
    const handling = inbox.handleMessage(messages[0]);
    await begun.opened;
    expect(await inbox.stop({ timeoutMs: 0 })).toBe('cut-off');
    expect(await handling).toBe('retry');
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    expect(await webhooks.receive(order('B'))).toMatchObject({
      status: 503,
      error: { code: 'inbox_stopped' },
    });
    // The stop was no attempt, and nobody waits for the lease.
    const other = openAnother(() => {});
    expect(await other.inbox.handleMessage(messages[0])).toBe('done');
    expect([reports, other.reports]).toEqual([[], [['handled', 1]]]);
    expect(await other.inbox.stop()).toBe('drained');
  });

  it('is refused without handlers, by a receiver, and with unsound options', async () => {
    const send = async () => {};
    await expect(queueInbox({ send }).handleMessage({})).rejects.toThrow('createWebhooks');
    const { inbox } = open({ role: 'receiver' });
    await expect(inbox.handleMessage({})).rejects.toThrow("role: 'receiver'");
    expect(() => quietWebhooks({ inbox })).toThrow('belongs to one createWebhooks');
    for (const wrong of [{}, { send: 1 }, { send, store: {} }, { send, prefix: ' ' }, { send, sent: 1 }])
      expect(() => queueInbox(Object(wrong))).toThrow();
    const wrong = Object({ attempts: 1 });
    await expect(open().inbox.handleMessage({}, wrong)).rejects.toMatchObject({ code: 'invalid_option' });
  });
});

describe('a message that is no delivery', () => {
  const digest = 'ab'.repeat(32);
  const sound = { v: 1, digest, name: 'x', key: { index: 0 }, body: '{}', receivedAt: 1 };

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', 'secret marker'],
    ['no body', { ...sound, body: null }],
  ])('is dead, and reported without its content: %s', async (_, message) => {
    const { inbox, calls } = open();
    const warnings = await warningsDuring(async () => {
      expect(await inbox.handleMessage(message)).toBe('dead');
    });
    expect(String(warnings.map(({ message }) => message))).not.toContain('marker');
    expect(calls).toEqual([]);
  });
});

describe('with a store', () => {
  it('of two copies of a message one is handled, the other comes again', async () => {
    const [begun, end] = [gate(), gate()];
    const { webhooks, inbox, messages, calls, openAnother } = guarded({}, async () => {
      begun.open();
      await end.opened;
    });
    await webhooks.receive(order('A'));
    const first = inbox.handleMessage(messages[0]);
    await begun.opened;
    const other = openAnother();
    expect(await other.inbox.handleMessage(messages[0])).toBe('retry');
    end.open();
    expect(await first).toBe('done');
    expect(await other.inbox.handleMessage(messages[0])).toBe('done');
    expect([...calls, ...other.calls]).toEqual(['A']);
  });

  it('counts attempts, whoever makes them; a dead letter that is put back has all of them again', async () => {
    let broken = true;
    const { webhooks, inbox, messages, reports, openAnother } = guarded({ maxAttempts: 2 }, () => {
      if (broken) throw new Error('no');
    });
    await webhooks.receive(order('A'));
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    expect(await openAnother().inbox.handleMessage(messages[0])).toBe('dead');
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    broken = false;
    expect(await inbox.handleMessage(messages[0])).toBe('done');
    expect(reports.at(-1)).toEqual(['handled', 2]);
  });

  it('a message whose process died is handled when its lease is over, is dead after the last attempt alone, and holds back its copies for 10 seconds', async () => {
    const { webhooks, messages, openAnother, clock } = guarded({ maxAttempts: 2 });
    await webhooks.receive(order('A'));
    for (let tries = 0; tries < 3; tries++) {
      const begun = gate();
      const dying = openAnother(() => {
        begun.open();
        return new Promise(() => {});
      });
      void dying.inbox.handleMessage(messages[0]);
      await begun.opened;
      expect(await openAnother().inbox.handleMessage(messages[0])).toBe('retry');
      clock.now += 65_001;
    }
    const { inbox, reports, calls } = openAnother();
    expect(await inbox.handleMessage(messages[0])).toBe('dead');
    expect(reports).toEqual([['dead', 2]]);
    expect(calls).toEqual([]);
    // Another attempt now could end the process before the queue hears that the first message is dead.
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    expect(calls).toEqual([]);
    clock.now += 10_001;
    expect(await inbox.handleMessage(messages[0])).toBe('done');
    expect(reports.at(-1)).toEqual(['handled', 1]);
  });

  it('a handler that outlives its lease does not end the lease of the process that has the message by then', async () => {
    const { webhooks, messages, openAnother, clock } = guarded();
    await webhooks.receive(order('A'));
    const hold = () => {
      const [begun, end] = [gate(), gate()];
      const { inbox } = openAnother(async () => {
        begun.open();
        await end.opened;
        throw new Error('late');
      });
      return { handled: inbox.handleMessage(messages[0]), begun: begun.opened, end: end.open };
    };
    const first = hold();
    await first.begun;
    clock.now += 64_999;
    expect(await openAnother().inbox.handleMessage(messages[0])).toBe('retry');
    clock.now += 1;
    const second = hold();
    await second.begun;
    first.end();
    expect(await first.handled).toBe('retry');
    const third = openAnother();
    expect(await third.inbox.handleMessage(messages[0])).toBe('retry');
    expect(third.calls).toEqual([]);
    second.end();
    expect(await second.handled).toBe('retry');
    expect(await third.inbox.handleMessage(messages[0])).toBe('done');
    // The first one's failure is not counted, nor is its lease, which was lost while it may have run beside others.
    expect(third.reports).toEqual([['handled', 2]]);
  });

  it('nothing is handled while the store is away, and nothing is lost', async () => {
    const store = memoryStore();
    let isAway = false;
    const errors: unknown[] = [];
    const { webhooks, inbox, messages, calls } = open({
      store: {
        ...store,
        transact: (keys, change) =>
          isAway ? Promise.reject(new Error('away')) : store.transact(keys, change),
      },
      onStoreError: (error) => errors.push(error),
    });
    await webhooks.receive(order('A'));
    isAway = true;
    expect(await webhooks.receive(order('B'))).toMatchObject({ status: 503 });
    expect(await inbox.handleMessage(messages[0])).toBe('retry');
    expect(errors).toHaveLength(1);
    isAway = false;
    expect(await inbox.handleMessage(messages[0])).toBe('done');
    expect(calls).toEqual(['A']);
  });

  it('a delivery that is in the queue is acknowledged though the store fails then, which is reported', async () => {
    const store = memoryStore();
    const errors: unknown[] = [];
    let sent = false;
    const { webhooks } = open({
      send: async () => {
        sent = true;
      },
      store: {
        ...store,
        transact: (keys, change) => (sent ? Promise.reject(new Error('away')) : store.transact(keys, change)),
      },
      onStoreError: (error) => errors.push(error),
    });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    expect(errors).toMatchObject([{ code: 'store_unavailable' }]);
  });
});
