import { describe, expect, it, onTestFinished } from 'vitest';
import { openStoreInbox, type StoreInboxOptions } from '../../../src/inbox/store/store-inbox.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { ProcessView } from '../../../src/store/process-identity.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { eventually, order, receiver } from '../receiver.ts';

const leaseMs = 65_000;

/** Processes of one machine, on one store and one clock, which only the test moves. */
function machine() {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = memoryStore({ now });
  const ended = new Set<number>();
  let processes = 0;

  /** An inbox in a process of its own. */
  function start(options: Partial<StoreInboxOptions> = {}, space = 'this machine') {
    const pid = ++processes;
    const view: ProcessView = {
      self: () => ({ space, pid, startedAt: '7' }),
      hasEnded: (other) => other.space === space && ended.has(other.pid),
    };
    const random = (size: number) => new Uint8Array(size);
    const inbox = openStoreInbox({ store, now, pollMs: 5, random, ...options }, view);
    onTestFinished(async () => {
      await inbox.stop({ timeoutMs: 0 });
    });
    return { pid, inbox, kill: () => void ended.add(pid) };
  }

  /** A process that takes so many deliveries, and is killed while it handles them. */
  async function dieWith(count: number, options: Partial<StoreInboxOptions> = {}, space?: string) {
    const { pid, inbox, kill } = start({ role: 'drain', maxAttempts: 2, ...options }, space);
    const all = gate();
    const { calls } = receiver(inbox, () => {
      if (calls.length === count) all.open();
      return new Promise(() => {});
    });
    void inbox.drain({ limit: count }).catch(() => {});
    await all.opened;
    kill();
    return pid;
  }

  async function receive(...ids: string[]): Promise<void> {
    const { webhooks } = receiver(start({ role: 'receiver' }).inbox);
    for (const id of ids) await webhooks.receive(order(id));
  }

  async function recordOf(): Promise<JsonObject> {
    const [record] = await store.list({ prefix: 'inbox/delivery/', limit: 1 });
    // Sound: it is the record of a delivery.
    return record?.value as JsonObject;
  }

  return { clock, store, start, dieWith, receive, recordOf };
}

describe('a process that starts', () => {
  it('takes over at once what an ended process had, each alone, and it counts as no attempt', async () => {
    const { start, dieWith, receive } = machine();
    await receive('A', 'B', 'C');
    await dieWith(3);
    const { inbox } = start();
    let [running, most] = [0, 0];
    const { calls, reports } = receiver(inbox, async () => {
      most = Math.max(most, ++running);
      // real time: others could begin meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
    });
    // The clock stands: no lease ends by itself.
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'B', 'C']));
    await eventually(() => expect(reports.map(({ attempt }) => attempt)).toEqual([1, 1, 1]));
    expect(most).toBe(1);
  });

  it.each<[string, (bench: ReturnType<typeof machine>) => Promise<void>]>([
    [
      'of a process that lives',
      async ({ start }) => {
        const { inbox } = start({ role: 'drain' });
        const begun = gate();
        receiver(inbox, () => {
          begun.open();
          return new Promise(() => {});
        });
        void inbox.drain({ limit: 1 }).catch(() => {});
        await begun.opened;
      },
    ],
    ['of another machine or container', async ({ dieWith }) => void (await dieWith(1, {}, 'another'))],
    [
      'without a holder, where the system names no processes',
      async ({ dieWith, store, recordOf }) => {
        await dieWith(1);
        const { lease, ...record } = await recordOf();
        const { holder: _, ...unnamed } = Object(lease);
        const key = `inbox/delivery/${Object(record.delivery).digest}`;
        await store.transact([key], (records) => records.set(key, { ...record, lease: unnamed }));
      },
    ],
  ])('waits for the end of a lease %s', async (_, lease) => {
    const bench = machine();
    await bench.receive('A');
    await lease(bench);
    const { calls } = receiver(bench.start().inbox);
    const polled = receiver(bench.start().inbox);
    // Either of the two may take one.
    const handled = () => [...calls, ...polled.calls].toSorted();
    await bench.receive('B');
    await eventually(() => expect(handled()).toEqual(['B']));
    bench.clock.now += leaseMs - 1;
    await bench.receive('C');
    await eventually(() => expect(handled()).toEqual(['B', 'C']));
    bench.clock.now += 1;
    await eventually(() => expect(handled()).toEqual(['A', 'B', 'C']));
  });

  it('pauses before what had ended its process alone, and makes it a dead letter after its last attempt', async () => {
    const { clock, start, dieWith, receive } = machine();
    const counted = start({ role: 'receiver' }).inbox;
    await receive('A');
    await dieWith(1);
    /** Takes A alone, and is killed while it handles it. */
    async function takeAlone(options: Partial<StoreInboxOptions>, before: () => Promise<void>) {
      const { inbox, kill } = start({ maxAttempts: 2, retry: { firstDelayMs: 1_000 }, ...options });
      const begun = gate();
      const { calls } = receiver(inbox, (id) => {
        if (id !== 'A') return;
        begun.open();
        return new Promise(() => {});
      });
      await before();
      await begun.opened;
      kill();
      return calls;
    }
    expect(await takeAlone({}, async () => {})).toEqual(['A']);
    const second = await takeAlone({}, async () => {
      await receive('B');
      await eventually(async () => expect(await counted.counts()).toEqual({ open: 1, dead: 0 }));
      clock.now += 999;
      await receive('C');
      await eventually(async () => expect(await counted.counts()).toEqual({ open: 1, dead: 0 }));
      clock.now += 1;
    });
    expect(second).toEqual(['B', 'C', 'A']);
    const { inbox } = start({ maxAttempts: 2, retry: { firstDelayMs: 1 } });
    const { calls, reports } = receiver(inbox);
    await eventually(async () => {
      clock.now += 1;
      expect(await counted.counts()).toEqual({ open: 0, dead: 1 });
    });
    expect(calls).toEqual([]);
    expect(reports).toMatchObject([{ outcome: 'dead', attempt: 2, code: 'lease_lost' }]);
  });
});
