import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Delivery } from '../../../src/inbox/inbox.ts';
import { type DefineInboxTest, deliveryOf, gate, host, orderNames } from './inbox-test-context.ts';

export function testReceiving(test: DefineInboxTest): void {
  test('a delivery is acknowledged, and handled as it was received', async ({
    open,
    durable,
    eventually,
  }) => {
    const seen: Delivery[] = [];
    const { receive } = host(await open(), (_, { delivery }) => seen.push(delivery));
    equal(await receive(deliveryOf('A')), durable ? 'stored' : 'handled');
    await eventually(() => deepEqual(seen, [deliveryOf('A')]));
  });

  test('a repetition is a duplicate, before the delivery is handled and long after', async (context) => {
    const { open, durable, eventually } = context;
    const [begun, end] = [gate(), gate()];
    const { receive, send, calls } = host(await open(), async () => {
      begun.open();
      await end.opened;
    });
    const first = receive(deliveryOf('A'));
    await begun.opened;
    equal(await receive(deliveryOf('A')), durable ? 'duplicate' : 'busy');
    end.open();
    await first;
    await eventually(async () => equal(await send(deliveryOf('A')), 'duplicate'));
    await send(deliveryOf('B'));
    await eventually(() => deepEqual(calls, ['A', 'B']));
    equal(await send(deliveryOf('A')), 'duplicate');
    deepEqual(calls, ['A', 'B']);
  });

  test('of 50 repetitions at once one is handled, and all are acknowledged in the end', async (context) => {
    const { send, calls } = host(await context.open());
    const results = await Promise.all(Array.from({ length: 50 }, () => send(deliveryOf('A'))));
    ok(!results.includes('refused'));
    await send(deliveryOf('B'));
    await context.eventually(() => deepEqual(calls.toSorted(), ['A', 'B']));
  });

  test("one partner's delivery is never the duplicate of another's", async ({ open, eventually }) => {
    const { send, calls } = host(await open());
    await send(deliveryOf('A'));
    ok((await send(deliveryOf('A', { partner: 'other' }))) !== 'duplicate');
    await eventually(() => deepEqual(calls, ['A', 'A']));
  });

  test('several that receive a delivery at the same moment store it once', async ({ open, durable }) => {
    if (!durable) return;
    const role = 'receiver';
    const all = [host(await open({ role })), host(await open({ role })), host(await open({ role }))];
    for (const id of ['A', 'B', 'C']) {
      const results = await Promise.all(
        all.flatMap(({ send }) => [send(deliveryOf(id)), send(deliveryOf(id))]),
      );
      deepEqual(results.toSorted(), [...Array.from({ length: 5 }, () => 'duplicate'), 'stored']);
    }
  });

  test('another process handles what one has stored', async ({ open, durable, eventually }) => {
    if (!durable) return;
    const { receive } = host(await open({ role: 'receiver' }));
    equal(await receive(deliveryOf('A')), 'stored');
    const { calls } = host(await open());
    await eventually(() => deepEqual(calls, ['A']));
  });

  test('a restart loses nothing, and remembers', async ({ open, durable, eventually }) => {
    if (!durable) return;
    const first = await open({ role: 'receiver' });
    const { receive } = host(first);
    for (const id of ['A', 'B', 'C']) await receive(deliveryOf(id));
    await first.stop();
    const { calls, receive: restarted } = host(await open());
    await eventually(() => deepEqual(calls.toSorted(), ['A', 'B', 'C']));
    equal(await restarted(deliveryOf('B')), 'duplicate');
  });

  test('two workers share the work, and each delivery is handled once', async (context) => {
    if (!context.durable) return;
    const [one, other] = [host(await context.open()), host(await context.open())];
    const ids = orderNames(60);
    await Promise.all(ids.flatMap((id) => [one.send(deliveryOf(id)), other.send(deliveryOf(id))]));
    await context.eventually(() => deepEqual([...one.calls, ...other.calls].toSorted(), ids.toSorted()));
  });
}
