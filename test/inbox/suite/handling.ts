import { deepEqual, equal, ok } from 'node:assert/strict';
import { sleep } from '../../../src/internal/backoff.ts';
import {
  type DefineInboxTest,
  deliveryOf,
  gate,
  type HandlerContext,
  host,
  never,
  orderNames,
} from './inbox-test-context.ts';

const failures: readonly (readonly [name: string, fail: () => Promise<never>])[] = [
  ['an error', () => Promise.reject(new Error('the database is down'))],
  ['text', () => Promise.reject('down')],
  ['undefined', () => Promise.reject(undefined)],
  ['something that cannot be printed', () => Promise.reject(Object.create(null))],
];

export function testHandling(test: DefineInboxTest): void {
  for (const [name, fail] of failures) {
    test(`a handler that throws ${name} is tried again`, async ({ open, durable, eventually }) => {
      let count = 0;
      const { send, reports } = host(await open(), () => (count++ === 0 ? fail() : undefined));
      await send(deliveryOf('A'));
      await eventually(() => equal(count, 2));
      // Without a store the answer says it.
      if (!durable) return;
      await eventually(() =>
        deepEqual(
          reports.map(({ outcome, attempt }) => [outcome, attempt]),
          [
            ['failed', 1],
            ['handled', 2],
          ],
        ),
      );
    });
  }

  test('a handler that never settles is aborted before any process tries again, and holds up no other', async (context) => {
    const signals: (AbortSignal | undefined)[] = [];
    const abortedBefore: boolean[] = [];
    const behave = (id: string, { signal }: HandlerContext) => {
      if (id !== 'A') return;
      abortedBefore.push(signals.every((earlier) => earlier?.aborted));
      if (signals.push(signal) < 3) return never();
    };
    // A lease lasts as long again: a stall of that length would end it before the handler is aborted.
    const timeLimitMs = 1_500;
    const { send, calls } = host(await context.open({ timeLimitMs }), behave);
    const other = context.durable ? host(await context.open({ timeLimitMs }), behave) : undefined;
    void send(deliveryOf('A'));
    await context.eventually(() => ok(signals.length > 0));
    await send(deliveryOf('B'));
    await context.eventually(() =>
      deepEqual([...calls, ...(other?.calls ?? [])].toSorted(), ['A', 'A', 'A', 'B']),
    );
    deepEqual(abortedBefore, [true, true, true]);
  });

  test('a delivery that a process has no handler for is left to the next one that has, as a first attempt', async (context) => {
    if (!context.durable) return;
    const inbox = await context.open();
    const without = host(inbox, () => 'put-back');
    await without.receive(deliveryOf('A'));
    await context.eventually(() => ok(without.calls.length > 0));
    await inbox.stop();
    const { calls, reports } = host(await context.open());
    await context.eventually(() => deepEqual(calls, ['A']));
    await context.eventually(() =>
      deepEqual(
        [...reports, ...without.reports].map(({ outcome, attempt }) => [outcome, attempt]),
        [['handled', 1]],
      ),
    );
  });

  test('a delivery is ignored once no process had a handler for it for long enough', async (context) => {
    const inbox = await context.open({ ignoreAfterMs: 0 });
    const { send, reports } = host(inbox, () => 'put-back');
    await send(deliveryOf('A'));
    await context.eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 0 }));
    if (!context.durable) return;
    await context.eventually(() =>
      deepEqual(
        reports.map(({ outcome }) => outcome),
        ['ignored'],
      ),
    );
    equal(await send(deliveryOf('A')), 'duplicate');
  });

  test('a process without any handler leases nothing', async (context) => {
    if (!context.durable) return;
    let hasHandlers = false;
    const inbox = await context.open();
    const { receive, calls } = host(inbox, () => {}, { hasHandlers: () => hasHandlers });
    await receive(deliveryOf('A'));
    // real time: an inbox without a store of ours cannot be asked whether it waits.
    await sleep(200);
    deepEqual(calls, []);
    hasHandlers = true;
    await context.eventually(() => deepEqual(calls, ['A']));
  });

  test('no more than `concurrency` are handled at a time, and all in the end', async (context) => {
    if (!context.durable) return;
    let [now, most] = [0, 0];
    const { receive, calls } = host(await context.open({ concurrency: 3 }), async () => {
      most = Math.max(most, ++now);
      // real time: other handlers begin meanwhile.
      await sleep(5);
      now--;
    });
    const ids = orderNames(40);
    await Promise.all(ids.map((id) => receive(deliveryOf(id))));
    await context.eventually(() => deepEqual(calls.toSorted(), ids.toSorted()));
    ok(most <= 3, `${most} at a time`);
  });
}

export function testStopping(test: DefineInboxTest): void {
  test('an inbox belongs to one host', async ({ open }) => {
    const inbox = await open();
    host(inbox);
    let refused = false;
    try {
      host(inbox);
    } catch {
      refused = true;
    }
    ok(refused, 'attach accepted a second host');
  });

  test('a stop waits for handlers, and nothing is acknowledged any more', async ({ open }) => {
    const inbox = await open();
    const [begun, end] = [gate(), gate()];
    let ended = false;
    const { receive } = host(inbox, async () => {
      begun.open();
      await end.opened;
      ended = true;
    });
    const first = receive(deliveryOf('A'));
    await begun.opened;
    const stopped = inbox.stop({ timeoutMs: 5_000 });
    // real time: the stop begins before the handler ends.
    setTimeout(end.open, 30);
    equal(await stopped, 'drained');
    ok(ended);
    await first;
    equal(await receive(deliveryOf('B')).catch(() => 'refused'), 'refused');
  });

  test('a stop ends in the time given though a handler goes on, and tells it so', async ({ open }) => {
    const inbox = await open({ timeLimitMs: 60_000 });
    const begun = gate();
    let seen: AbortSignal | undefined;
    const { receive } = host(inbox, (_, { signal }) => {
      seen = signal;
      begun.open();
      return never();
    });
    void receive(deliveryOf('A')).catch(() => {});
    await begun.opened;
    // real time: only what never ends reaches it.
    equal(await inbox.stop({ timeoutMs: 50 }), 'cut-off');
    equal(seen?.aborted, true);
  });

  test('a delivery that a stop has cut off is handled again, and is no dead letter', async (context) => {
    if (!context.durable) return;
    // Nobody waits for its lease to run out.
    const options = { timeLimitMs: 60_000, maxAttempts: 1 };
    const first = await context.open(options);
    const begun = gate();
    const { receive } = host(first, () => {
      begun.open();
      return never();
    });
    await receive(deliveryOf('A'));
    await begun.opened;
    // real time: only what never ends reaches it.
    equal(await first.stop({ timeoutMs: 20 }), 'cut-off');
    const second = await context.open(options);
    const { calls } = host(second);
    await context.eventually(() => deepEqual(calls, ['A']));
    deepEqual(await second.deadLetters(), []);
  });
}
