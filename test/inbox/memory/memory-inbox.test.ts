import { describe, expect, it } from 'vitest';
import { memoryInbox } from '../../../src/inbox/memory-inbox.ts';
import { refusal } from '../../support/refusal.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { order, receiver } from '../receiver.ts';

const delivery = { digest: 'ab'.repeat(32), name: 'event.buy.init', key: { index: 0 }, body: order('A') };
const fail = () => Promise.reject(new Error('no such order'));
const day = 24 * 60 * 60 * 1000;

describe('the memory inbox', () => {
  it('tries a dead letter again when the sender repeats it: it was never acknowledged', async () => {
    const inbox = memoryInbox({ maxAttempts: 2 });
    let broken = true;
    const { webhooks, calls, reports } = receiver(inbox, () => {
      if (broken) throw new Error('no');
    });
    for (let time = 0; time < 3; time++)
      expect(await webhooks.receive(order('A'))).toMatchObject({ status: 500 });
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 3, reason: 'Error: no' }]);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['failed', 'dead', 'failed', 'failed']);
    broken = false;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'handled' });
    expect(await inbox.deadLetters()).toEqual([]);
    expect(calls).toHaveLength(4);
  });

  it('does not say that it replayed what a repetition is having handled', async () => {
    const inbox = memoryInbox({ maxAttempts: 1 });
    const begun = gate();
    const end = gate();
    let broken = true;
    const { webhooks } = receiver(inbox, async () => {
      if (broken) throw new Error('no');
      begun.open();
      await end.opened;
    });
    await webhooks.receive(order('A'));
    broken = false;
    const [deadLetter] = await inbox.deadLetters();
    const repeated = webhooks.receive(order('A'));
    await begun.opened;
    expect(await inbox.replay(deadLetter?.digest ?? '')).toBe(false);
    end.open();
    expect(await repeated).toMatchObject({ kind: 'handled' });
  });

  it('keeps no more dead letters than it may', async () => {
    const inbox = memoryInbox({ maxAttempts: 1, maxDeadLetters: 2 });
    const { webhooks } = receiver(inbox, () => Promise.reject(new Error('no')));
    for (const id of ['A', 'B', 'C']) await webhooks.receive(order(id));
    expect(await inbox.deadLetters()).toHaveLength(2);
    expect(await inbox.deadLetters({ limit: 1 })).toHaveLength(1);
    expect(await inbox.counts()).toEqual({ open: 0, dead: 2 });
  });

  it('forgets after 30 days', async () => {
    let at = 0;
    const { webhooks } = receiver(memoryInbox({ now: () => at }));
    await webhooks.receive(order('A'));
    at += 30 * day - 1;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    at += 1;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'handled' });
  });

  it('handles no repetition while a handler runs that has blocked the event loop past its time limit', async () => {
    // real time: the handler itself blocks for longer.
    const timeLimitMs = 5;
    let calls = 0;
    const blocking = () => {
      calls++;
      const end = performance.now() + 3 * timeLimitMs;
      while (performance.now() < end);
      return Promise.resolve('handled' as const);
    };
    const inbox = memoryInbox({ timeLimitMs });
    // In one turn of the event loop, as when a process wakes: its timers come after what has arrived.
    const both = [inbox.receive(delivery, blocking), inbox.receive(delivery, blocking)];
    expect(await Promise.all(both)).toEqual(['handled', 'busy']);
    expect(calls).toBe(1);
  });

  it.each([{ maxRemembered: 0 }, { maxDeadLetters: 1.5 }])('refuses %j', (options) => {
    expect(refusal(() => memoryInbox(options))).toBe('ConfigurationError invalid_option');
  });
});

describe('the attempts of the memory inbox', () => {
  it('are forgotten when no handler wants the delivery any more', async () => {
    const inbox = memoryInbox({ maxAttempts: 1 });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    for (const result of ['ignored', 'put-back'] as const)
      expect(await inbox.receive(delivery, async () => result)).toBe('ignored');
    expect(await inbox.deadLetters()).toEqual([]);
  });

  it('are no dead letter before the last one', async () => {
    const inbox = memoryInbox({ maxAttempts: 2 });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    expect(await inbox.deadLetters()).toEqual([]);
    expect(await inbox.health()).toEqual({ open: 0, dead: 0, quarantined: 0, oldestAgeMs: null });
    await expect(inbox.receive(delivery, fail)).rejects.toThrow('no such order');
    expect(await inbox.health()).toEqual({ open: 0, dead: 1, quarantined: 0, oldestAgeMs: null });
  });

  it('are counted once for a handler that rejects when it is aborted', async () => {
    // real time: nothing ends before it: a busy machine only makes it later.
    const inbox = memoryInbox({ maxAttempts: 2, timeLimitMs: 5 });
    const { webhooks, reports } = receiver(
      inbox,
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
    );
    const begun = performance.now();
    for (let tries = 0; tries < 2; tries++) await webhooks.receive(order('A'));
    const tookMs = performance.now() - begun;
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 2 }]);
    const dead = reports.filter(({ outcome }) => outcome === 'dead');
    expect(dead).toMatchObject([
      { attempt: 2, durationMs: expect.toSatisfy((ms) => ms >= 0 && ms < tookMs) },
    ]);
  });
});
