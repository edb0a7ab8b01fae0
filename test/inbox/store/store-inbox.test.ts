import { describe, expect, it, onTestFinished } from 'vitest';
import { type StoreInboxOptions, storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { order, receiver } from '../receiver.ts';

const day = 86_400_000;

/** Inboxes on one store and one clock, which only the test moves. */
function shared() {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = memoryStore({ now });
  function open(options: Partial<StoreInboxOptions> = {}) {
    const random = (size: number) => new Uint8Array(size);
    const inbox = storeInbox({ store, now, role: 'drain', random, ...options });
    onTestFinished(async () => void (await inbox.stop({ timeoutMs: 0 })));
    return inbox;
  }
  return { clock, store, open };
}

const nothing = { handled: 0, ignored: 0, failed: 0, dead: 0, left: 0 };

describe('drain', () => {
  it('handles what is due, and says what it did', async () => {
    const { open } = shared();
    const inbox = open({ maxAttempts: 1 });
    const { webhooks, calls, reports } = receiver(inbox, (id) => {
      if (id === 'broken') throw new Error('no');
    });
    expect(await inbox.drain()).toEqual(nothing);
    for (const id of ['A', 'B', 'broken']) await webhooks.receive(order(id));
    expect(calls).toEqual([]);
    expect(await inbox.drain()).toEqual({ ...nothing, handled: 2, dead: 1 });
    expect(calls.toSorted()).toEqual(['A', 'B', 'broken']);
    expect(reports.filter(({ stage }) => stage === 'handle')).toHaveLength(3);
    expect(await inbox.drain()).toEqual(nothing);
  });

  it('leaves a failed delivery until its delay is over', async () => {
    const { open, clock } = shared();
    const inbox = open({ retry: { firstDelayMs: 1_000 } });
    let broken = true;
    const { webhooks } = receiver(inbox, () => {
      if (broken) throw new Error('no');
    });
    await webhooks.receive(order('A'));
    expect(await inbox.drain()).toEqual({ ...nothing, failed: 1, left: 1 });
    broken = false;
    clock.now += 999;
    expect(await inbox.drain()).toEqual({ ...nothing, left: 1 });
    clock.now += 1;
    expect(await inbox.drain()).toEqual({ ...nothing, handled: 1 });
  });

  it.each(['time limit', 'signal'])('ends early by its %s, and the attempt does not count', async (how) => {
    const { open } = shared();
    const inbox = open({ maxAttempts: 1 });
    const begun = gate();
    let seen: AbortSignal | undefined;
    let hangs = true;
    const { webhooks, reports } = receiver(inbox, (_, { signal }) => {
      seen = signal;
      begun.open();
      return hangs ? new Promise(() => {}) : undefined;
    });
    await webhooks.receive(order('A'));
    const controller = new AbortController();
    const options = how === 'signal' ? { signal: controller.signal } : { timeLimitMs: 1_000 };
    const drained = inbox.drain(options);
    await begun.opened;
    controller.abort();
    expect(await drained).toEqual({ ...nothing, left: 1 });
    expect(seen).toMatchObject({ aborted: true, reason: { code: 'inbox_stopped' } });
    expect(await inbox.drain({ signal: AbortSignal.abort() })).toEqual({ ...nothing, left: 1 });
    hangs = false;
    expect(await inbox.drain()).toEqual({ ...nothing, handled: 1 });
    expect(reports.at(-1)).toMatchObject({ outcome: 'handled', attempt: 1 });
  });

  it('runs one after the other within a process, so that concurrency holds', async () => {
    const { open } = shared();
    const inbox = open({ concurrency: 2 });
    let [now, most] = [0, 0];
    const { webhooks } = receiver(inbox, async () => {
      most = Math.max(most, ++now);
      await nextTurn();
      now--;
    });
    for (let id = 0; id < 10; id++) await webhooks.receive(order(`order ${id}`));
    const [first, second] = await Promise.all([inbox.drain({ limit: 4 }), inbox.drain()]);
    expect([first.handled, second.handled]).toEqual([4, 6]);
    expect(most).toBe(2);
  });

  it('rejects when the store fails, after the handlers that run have ended', async () => {
    const { open, store } = shared();
    let fails = false;
    const failed = gate();
    const failing: RecordStore = {
      ...store,
      list(options) {
        if (!fails) return store.list(options);
        // Only then is the handler let go.
        setImmediate(failed.open);
        return Promise.reject(new Error('down'));
      },
    };
    const inbox = open({ store: failing, onStoreError: () => {} });
    let ended = false;
    const { webhooks } = receiver(inbox, async () => {
      fails = true;
      await failed.opened;
      ended = true;
    });
    await webhooks.receive(order('A'));
    await expect(inbox.drain()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(ended).toBe(true);
  });

  it('is refused without handlers, by a receiver, with unsound options, and once stopped', async () => {
    const { open } = shared();
    await expect(open().drain()).rejects.toThrow('createWebhooks');
    const receiving = open({ role: 'receiver' });
    receiver(receiving);
    await expect(receiving.drain()).rejects.toThrow("role: 'receiver'");
    const server = open({ role: 'both' });
    receiver(server);
    await expect(server.drain()).rejects.toThrow("give it role: 'drain'");
    await server.stop();
    const inbox = open();
    receiver(inbox);
    for (const wrong of [{ limit: 0 }, { timeLimitMs: -1 }, { limits: 5 }, { signal: true }])
      await expect(inbox.drain(Object(wrong))).rejects.toMatchObject({ code: 'invalid_option' });
    await inbox.stop();
    await expect(inbox.drain()).rejects.toMatchObject({ code: 'inbox_stopped' });
    expect(() => open({ prefix: 'a b' })).toThrow('prefix');
    expect(() => storeInbox(Object({}))).toThrow('store');
  });
});

it("an inbox with role: 'drain' handles nothing by itself, and has no timer", async () => {
  const { open } = shared();
  let sleeps = 0;
  const sleep = () => {
    sleeps++;
    return nextTurn();
  };
  const inbox = open({ sleep });
  const { webhooks, calls } = receiver(inbox);
  await webhooks.receive(order('A'));
  await nextTurn();
  expect([calls, sleeps]).toEqual([[], 0]);
  expect(await inbox.drain()).toEqual({ ...nothing, handled: 1 });
});

describe('a lease', () => {
  /** Leases what is due, and never reports: its process is as good as dead. */
  async function die(inbox: ReturnType<typeof storeInbox>, concurrency: number): Promise<string[]> {
    const all = gate();
    const { calls } = receiver(inbox, () => {
      if (calls.length === concurrency) all.open();
      return new Promise(() => {});
    });
    void inbox.drain({ limit: concurrency }).catch(() => {});
    await all.opened;
    return calls;
  }

  it('that is lost has its deliveries tried alone, which does not count for those that ran side by side', async () => {
    const { open, clock } = shared();
    const { webhooks } = receiver(open({ role: 'receiver' }));
    for (const id of ['A', 'B', 'C']) await webhooks.receive(order(id));
    await die(open(), 3);
    let [now, most] = [0, 0];
    const inbox = open();
    const { reports, webhooks: second } = receiver(inbox, async () => {
      most = Math.max(most, ++now);
      await nextTurn();
      now--;
    });
    expect(await inbox.drain()).toEqual({ ...nothing, left: 3 });
    clock.now += 65_001;
    await second.receive(order('D'));
    expect(await inbox.drain()).toEqual({ ...nothing, handled: 4 });
    expect(most).toBe(1);
    expect(reports.flatMap(({ stage, attempt }) => (stage === 'handle' ? [attempt] : []))).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it('lost alone counts as an attempt, and after the last one the delivery is a dead letter', async () => {
    const { open, clock } = shared();
    const { webhooks } = receiver(open({ role: 'receiver' }));
    await webhooks.receive(order('A'));
    for (const _ of ['side by side', 'alone', 'alone']) {
      expect(await die(open({ maxAttempts: 2 }), 1)).toEqual(['A']);
      clock.now += 65_001;
    }
    const inbox = open({ maxAttempts: 2 });
    const errors: unknown[] = [];
    const { reports, calls } = receiver(inbox, () => {}, { onError: (error) => errors.push(error) });
    expect(await inbox.drain()).toEqual({ ...nothing, dead: 1 });
    expect(calls).toEqual([]);
    expect(reports).toMatchObject([{ outcome: 'dead', attempt: 2 }]);
    expect(errors).toMatchObject([{ code: 'lease_lost' }]);
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ attempts: 2, reason: expect.stringContaining('lost its lease') });
    expect(await inbox.replay(letter?.digest ?? '')).toBe(true);
    expect(await inbox.drain()).toEqual({ ...nothing, handled: 1 });
  });

  it('that another worker has by now is not ended by the one that lost it', async () => {
    const { open, clock } = shared();
    const slow = open({ maxAttempts: 1 });
    const [begun, end] = [gate(), gate()];
    const { webhooks, reports } = receiver(slow, async () => {
      begun.open();
      await end.opened;
      throw new Error('too late');
    });
    await webhooks.receive(order('A'));
    const late = slow.drain();
    await begun.opened;
    clock.now += 65_001;
    const inbox = open();
    const again = gate();
    const { calls } = receiver(inbox, () => again.opened);
    const drained = inbox.drain();
    await expect.poll(() => calls).toEqual(['A']);
    end.open();
    expect(await late).toMatchObject({ failed: 1, dead: 0 });
    expect(reports.at(-1)).toMatchObject({ outcome: 'failed' });
    again.open();
    expect(await drained).toMatchObject({ handled: 1, left: 0 });
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
  });
});

it('health has the age of the oldest open delivery, also of one that waits for its next attempt', async () => {
  const { open, clock } = shared();
  const inbox = open({ retry: { firstDelayMs: 600_000 } });
  const { webhooks } = receiver(inbox, (id) => {
    if (id === 'bad') throw new Error('no');
  });
  await webhooks.receive(order('bad'));
  await inbox.drain();
  clock.now += 5_000;
  await webhooks.receive(order('A'));
  clock.now += 1_000;
  expect(await inbox.health()).toEqual({ open: 2, dead: 0, quarantined: 0, oldestAgeMs: 6_000 });
  clock.now -= day;
  expect((await inbox.health()).oldestAgeMs).toBe(0);
});

describe('the records of an inbox', () => {
  it('remember a digest for rememberMs after it was handled', async () => {
    const { open, clock, store } = shared();
    const inbox = open({ rememberMs: day });
    const { webhooks } = receiver(inbox);
    await webhooks.receive(order('A'));
    clock.now += 2 * day;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    await inbox.drain();
    expect(await store.list({ prefix: '', limit: 10 })).toMatchObject([
      { value: { handled: true }, expiresAt: clock.now + day },
    ]);
    clock.now += day - 1;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    clock.now += 1;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
  });
});
