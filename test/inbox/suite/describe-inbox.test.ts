import { afterAll, describe, expect, it, vi } from 'vitest';
import type { DeadLetter } from '../../../src/inbox/dead-letters.ts';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { describeInbox, type MakeInbox } from './describe-inbox.ts';

// The cases wait, and share nothing.
vi.setConfig({ maxConcurrency: 30 });

type Options = Parameters<MakeInbox>[0];

const stores = new Map<string, RecordStore>();

/** The inbox over a record store of this process, which looks often. */
function open({ data, ...options }: Options, wrap = (store: RecordStore) => store): ManagedInbox {
  const store = stores.get(data) ?? wrap(memoryStore());
  stores.set(data, store);
  const inbox = storeInbox({ store, storeTimeoutMs: 1_000, pollMs: 10, ...options });
  opened.push(inbox);
  return inbox;
}

const opened: ManagedInbox[] = [];
// A wrong one may have kept its own inbox from being stopped.
afterAll(async () => void (await Promise.all(opened.map((inbox) => inbox.stop({ timeoutMs: 0 })))));

/** The cases of the suite by name, for an inbox. */
function casesFor(make: MakeInbox): Map<string, () => Promise<void>> {
  const cases = new Map<string, () => Promise<void>>();
  describeInbox({ describe: (_, define) => define(), it: (name, run) => void cases.set(name, run) }, make, {
    patienceMs: 500,
  });
  return cases;
}

/** What is wrong, the cases that find it, and the inbox. */
const wrong: readonly (readonly [string, readonly string[], MakeInbox])[] = [
  [
    'acknowledges what it does not keep',
    ['a delivery is acknowledged, and handled as it was received'],
    (options) => ({ ...open(options), receive: async () => 'stored' }),
  ],
  [
    'stores a delivery again for each repetition',
    [
      'a repetition is a duplicate, before the delivery is handled and long after',
      'of 50 repetitions at once one is handled, and all are acknowledged in the end',
      'several that receive a delivery at the same moment store it once',
    ],
    (options) => {
      const inbox = open(options);
      let count = 0;
      return {
        ...inbox,
        receive: (delivery, handle) => {
          const digest = delivery.digest.slice(0, 56) + String(count++).padStart(8, '0');
          return inbox.receive({ ...delivery, digest }, handle);
        },
      };
    },
  ],
  [
    'takes the same body for a duplicate, whoever sent it',
    ["one partner's delivery is never the duplicate of another's"],
    (options) => {
      const inbox = open(options);
      const bodies = new Set<string>();
      return {
        ...inbox,
        async receive(delivery, handle) {
          if (bodies.has(delivery.body)) return 'duplicate';
          bodies.add(delivery.body);
          return await inbox.receive(delivery, handle);
        },
      };
    },
  ],
  [
    'keeps deliveries in its own memory',
    [
      'another process handles what one has stored',
      'a restart loses nothing, and remembers',
      'two workers share the work, and each delivery is handled once',
    ],
    (options) => open({ ...options, data: crypto.randomUUID() }),
  ],
  [
    'gives up after the first attempt',
    ['an error', 'text', 'undefined', 'something that cannot be printed'].map(
      (thrown) => `a handler that throws ${thrown} is tried again`,
    ),
    (options) => open({ ...options, maxAttempts: 1 }),
  ],
  [
    'never gives up',
    ['a delivery that fails at every attempt is a dead letter; others pass it'],
    (options) => open({ ...options, maxAttempts: 1000 }),
  ],
  [
    'does not pass on the signal',
    [
      'a handler that never settles is aborted before any process tries again, and holds up no other',
      'a stop ends in the time given though a handler goes on, and tells it so',
    ],
    (options) => {
      const inbox = open(options);
      return {
        ...inbox,
        attach: (host) => inbox.attach?.({ ...host, handle: (delivery) => host.handle(delivery) }),
      };
    },
  ],
  [
    'waits for a handler for ever',
    ['a handler that never settles is aborted before any process tries again, and holds up no other'],
    (options) => open({ ...options, timeLimitMs: 60_000 }),
  ],
  [
    'handles everything at once',
    ['no more than `concurrency` are handled at a time, and all in the end'],
    (options) => open({ ...options, concurrency: 1000 }),
  ],
  [
    'changes the body',
    ['a delivery is acknowledged, and handled as it was received'],
    (options) => {
      const inbox = open(options);
      return {
        ...inbox,
        receive: (delivery, handle) =>
          inbox.receive({ ...delivery, body: delivery.body.toWellFormed().replace('🙂', '?') }, handle),
      };
    },
  ],
  [
    'accepts a second host',
    ['an inbox belongs to one host'],
    (options) => ({ ...open(options), attach: () => {} }),
  ],
  [
    'acknowledges after a stop, and forgets',
    ['a stop waits for handlers, and nothing is acknowledged any more'],
    (options) => {
      const inbox = open(options);
      return {
        ...inbox,
        receive: (delivery, handle) => inbox.receive(delivery, handle).catch(() => 'stored' as const),
      };
    },
  ],
  [
    'does not wait for handlers when it stops',
    ['a stop waits for handlers, and nothing is acknowledged any more'],
    (options) => {
      const inbox = open(options);
      return { ...inbox, stop: () => inbox.stop({ timeoutMs: 0 }) };
    },
  ],
  [
    'throws away what a stop cuts off',
    ['a delivery that a stop has cut off is handled again, and is no dead letter'],
    (options) => {
      const inbox = open(options);
      const stop = async (given?: { readonly timeoutMs?: number | undefined }) => {
        stores.delete(options.data);
        return await inbox.stop(given);
      };
      return { ...inbox, stop };
    },
  ],
  [
    'replays a dead letter once for each call',
    ['a dead letter that two replay at the same time is handled once'],
    (options) => {
      const inbox = open(options);
      const bodies = new Map<string, Parameters<ManagedInbox['receive']>[0]>();
      return {
        ...inbox,
        receive(delivery, handle) {
          bodies.set(delivery.digest, delivery);
          return inbox.receive(delivery, handle);
        },
        async replay(digest) {
          const delivery = bodies.get(digest);
          if (delivery === undefined) return false;
          const copy = digest.slice(0, 32) + crypto.randomUUID().replaceAll('-', '');
          await inbox.receive({ ...delivery, digest: copy }, async () => 'handled');
          return await inbox.discard(digest);
        },
      };
    },
  ],
  [
    'stops when the handlers do, however long that takes',
    ['a stop ends in the time given though a handler goes on, and tells it so'],
    (options) => {
      const inbox = open(options);
      const stop = async () => {
        await inbox.stop({ timeoutMs: 0 });
        return 'drained' as const;
      };
      return { ...inbox, stop };
    },
  ],
  [
    'forgets what it discards',
    ['a discarded dead letter is gone, and its digest stays remembered'],
    (options) => {
      const inbox = open(options);
      return { ...inbox, discard: (digest) => inbox.replay(digest) };
    },
  ],
  [
    'keeps what it discards',
    ['a discarded dead letter is gone, and its digest stays remembered'],
    (options) => ({ ...open(options), discard: async () => true }),
  ],
  [
    'replays nothing',
    ['a replayed dead letter has all its attempts again'],
    (options) => ({ ...open(options), replay: async () => true }),
  ],
  [
    'shows the first dead letter for any digest, with its body',
    ['a dead letter is read by its digest, with its body when asked; nothing else is'],
    (options) => {
      const inbox = open(options);
      const deadLetter = async (): Promise<DeadLetter | undefined> =>
        (await inbox.deadLetters({ withBody: true }))[0];
      return { ...inbox, deadLetter };
    },
  ],
  [
    'counts nothing',
    ['what waits or is being handled is counted as open, and is no dead letter'],
    (options) => ({ ...open(options), counts: async () => ({ open: 0, dead: 0 }) }),
  ],
  [
    'handles before it acknowledges, and calls it stored',
    ['what waits or is being handled is counted as open, and is no dead letter'],
    (options) => ({
      ...open(options),
      receive: async (_, handle) => {
        // real time: the handler has ended by then, or is waited for no longer.
        await Promise.race([handle(), new Promise((resolve) => setTimeout(resolve, 50))]);
        return 'stored';
      },
    }),
  ],
  [
    'drops what this process has no handler for',
    ['a delivery that a process has no handler for is left to the next one that has, as a first attempt'],
    (options) => open({ ...options, ignoreAfterMs: 0 }),
  ],
  [
    'keeps for ever what no process has a handler for',
    ['a delivery is ignored once no process had a handler for it for long enough'],
    (options) => open({ ...options, ignoreAfterMs: 1_000_000 }),
  ],
  [
    'leases deliveries without a handler',
    ['a process without any handler leases nothing'],
    (options) => {
      const inbox = open(options);
      return {
        ...inbox,
        attach: (host) => inbox.attach?.({ hasHandlers: true, handle: host.handle, report: host.report }),
      };
    },
  ],
  [
    'tries again what cannot be read',
    ['an event that cannot be read is a dead letter at the first attempt'],
    (options) => {
      const inbox = open(options);
      return {
        ...inbox,
        attach: (host) =>
          inbox.attach?.({
            ...host,
            handle: (delivery, given) =>
              host.handle(delivery, given).catch((error) => Promise.reject(new Error(String(error)))),
          }),
      };
    },
  ],
  [
    'has a store that lies: it confirms what it did not write',
    ['a delivery is acknowledged, and handled as it was received'],
    (options) => open(options, lying),
  ],
  [
    'has a store that loses what it has written',
    ['a repetition is a duplicate, before the delivery is handled and long after'],
    (options) => open(options, losing),
  ],
  [
    'has a store that stalls',
    ['a delivery is acknowledged, and handled as it was received'],
    (options) => open(options, (store) => ({ ...store, transact: () => new Promise(() => {}) })),
  ],
];

/** Runs each change, and writes nothing. */
function lying(store: RecordStore): RecordStore {
  return {
    ...store,
    async transact(keys, change) {
      const unwritten = memoryStore();
      return await unwritten.transact(keys, change);
    },
  };
}

/** Forgets the memory of digests. */
function losing(store: RecordStore): RecordStore {
  return {
    ...store,
    transact: (keys, change) =>
      store.transact(keys, (records) =>
        change({
          ...records,
          set: (key, value, options) =>
            options?.expiresAt === undefined ? records.set(key, value) : records.delete(key),
        }),
      ),
  };
}

/** Runs each change twice, as a store may. */
function repeating(store: RecordStore): RecordStore {
  return {
    ...store,
    async transact(keys, change) {
      const unwritten = memoryStore();
      await unwritten.transact(keys, change).catch(() => {});
      return await store.transact(keys, change);
    },
  };
}

describe('describeInbox', () => {
  const runner = { describe, it: it.concurrent };
  describeInbox(runner, (options) => open(options));

  describe('over a store that runs each change more than once', () => {
    describeInbox(runner, (options) => open(options, repeating));
  });

  it.concurrent.each(wrong)('fails for an inbox that %s', async (_, names, make) => {
    const cases = casesFor(make);
    const failing = names.map(async (name) => {
      const run = cases.get(name);
      if (run === undefined) return expect.unreachable(`There is no case "${name}".`);
      // Some wait for what never happens: for them the runner has a time limit.
      const hangs = new Promise<never>((_resolve, reject) => {
        // real time: a case that fails late counts as failed, too.
        setTimeout(() => reject(new Error('It hangs.')), 2_000).unref();
      });
      await expect(Promise.race([run(), hangs]), name).rejects.toThrow();
    });
    await Promise.all(failing);
  });

  it('has a wrong inbox for each of its cases, and no two cases of one name', () => {
    const names: string[] = [];
    describeInbox({ describe: (_, define) => define(), it: (name) => void names.push(name) }, open);
    const found = new Set(wrong.flatMap(([, cases]) => cases));
    expect(names.filter((name) => !found.has(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(20);
  });
});
