import { describe, expect, it, vi } from 'vitest';
import { type StoreInboxOptions, storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { eventually, order, receiver } from '../receiver.ts';

const nothing = { handled: 0, ignored: 0, failed: 0, dead: 0, left: 0 };
const delivery = { digest: 'a'.repeat(64), name: 'event.buy.init', key: { index: 0 }, body: '{}' };

function open(options: Partial<StoreInboxOptions> = {}) {
  return storeInbox({ store: memoryStore(), role: 'drain', onStoreError: () => {}, ...options });
}

describe('a call of drain', () => {
  it('that is over while the kept deliveries are reviewed handles nothing', async () => {
    const reviewed = gate();
    const inbox = open();
    const handle = vi.fn(async () => 'handled' as const);
    inbox.attach?.({ hasHandlers: true, handle, report: () => {}, review: () => reviewed.opened });
    await inbox.receive(delivery, handle);
    // real time: nothing ends before it: a busy machine only makes it later.
    expect(await inbox.drain({ timeLimitMs: 10 })).toEqual({ ...nothing, left: 1 });
    reviewed.open();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(handle).not.toHaveBeenCalled();
  });

  it('that waits for its turn is refused once the inbox stops', async () => {
    const inbox = open();
    const [begun, end] = [gate(), gate()];
    const { webhooks } = receiver(inbox, () => {
      begun.open();
      return end.opened;
    });
    await webhooks.receive(order('A'));
    const first = inbox.drain();
    await begun.opened;
    const second = inbox.drain();
    second.catch(() => {});
    const stopped = inbox.stop();
    end.open();
    await expect(second).rejects.toMatchObject({ code: 'inbox_stopped' });
    expect(await stopped).toBe('drained');
    await first.catch(() => {});
  });
});

describe('the process that stored a delivery', () => {
  it('handles it at once, and not after a poll', async () => {
    const inbox = open({ role: 'both', pollMs: 600_000 });
    const { webhooks, calls } = receiver(inbox);
    // After its first look, which finds nothing.
    await nextTurn();
    for (const id of ['A', 'B']) {
      await webhooks.receive(order(id));
      await eventually(() => expect(calls.at(-1)).toBe(id));
    }
    await inbox.stop();
  });
});
