import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/errors/errors.ts';
import { type StoreInboxOptions, storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';

const digest = 'ab'.repeat(32);
const delivery = { digest, name: 'x', key: { index: 0 }, body: '{}' };
const handle = async () => 'handled' as const;
const body = { digest, body: '{}', partners: 'P' };
const noRoom = { name: 'InboxError', code: 'store_full' };
const stopped = { name: 'InboxError', code: 'inbox_stopped' };

/** An inbox, and how often its store was called. */
function open(options: Partial<StoreInboxOptions> = {}) {
  const inner = memoryStore();
  let calls = 0;
  const store: typeof inner = {
    ...inner,
    transact(keys, change) {
      calls++;
      return inner.transact(keys, change);
    },
    list(listOptions) {
      calls++;
      return inner.list(listOptions);
    },
  };
  return { inbox: storeInbox({ store, ...options }), calls: () => calls };
}

describe('a durable inbox', () => {
  it('asks its store for no digest that is none, and for no limit that is none', async () => {
    const { inbox, calls } = open();
    // From JavaScript: a query parameter that is not there.
    const missing = Object(undefined).digest;
    expect(await inbox.deadLetter(missing)).toBeUndefined();
    expect([await inbox.replay(missing), await inbox.discard(missing)]).toEqual([false, false]);
    expect(await inbox.find(missing)).toEqual([]);
    await expect(inbox.find('ab', 0)).rejects.toThrow('limit must be a whole number');
    expect(calls()).toBe(0);
  });

  it('counts what its quarantine holds, if it has one', async () => {
    const without = open({ quarantineMs: 0 }).inbox;
    expect(without.quarantine).toBeUndefined();
    expect(await without.counts()).toEqual({ open: 0, dead: 0 });
    const { inbox } = open();
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
    await inbox.quarantine?.keep(body);
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0, quarantined: 1 });
    expect(await inbox.health()).toEqual({ open: 0, dead: 0, quarantined: 1, oldestAgeMs: null });
  });

  it('has its quarantine reviewed while it handles by itself', async () => {
    const review = vi.fn(async () => {});
    const { inbox } = open();
    inbox.attach?.({ hasHandlers: true, review, handle, report: () => {} });
    await vi.waitFor(() => expect(review).toHaveBeenCalled());
    await inbox.stop();
  });

  it('begins no handler while its disk is full, and handles what it has kept when there is room', async () => {
    const inner = memoryStore();
    let isFull = false;
    const full = () => Promise.reject(new StoreError('disk_full', 'The disk is full.'));
    const inbox = storeInbox({
      store: { ...inner, transact: (...call) => (isFull ? full() : inner.transact(...call)) },
      role: 'drain',
      onStoreError: () => {},
    });
    const handler = vi.fn(handle);
    inbox.attach?.({ hasHandlers: true, handle: handler, report: () => {} });
    await inbox.receive(delivery, handle);
    isFull = true;
    await expect(inbox.receive({ ...delivery, digest: 'cd'.repeat(32) }, handle)).rejects.toMatchObject(
      noRoom,
    );
    await expect(inbox.drain()).rejects.toMatchObject(noRoom);
    expect(handler).not.toHaveBeenCalled();
    isFull = false;
    expect(await inbox.drain()).toMatchObject({ handled: 1, left: 0 });
  });

  it('answers nothing more once it has stopped', async () => {
    const { inbox, calls } = open();
    await inbox.stop();
    const acts = [
      ...[() => inbox.deadLetters(), () => inbox.deadLetter(digest), () => inbox.replay(digest)],
      ...[() => inbox.discard(digest), () => inbox.counts(), () => inbox.health()],
      ...[() => inbox.find('ab'), () => inbox.receive(delivery, handle)],
    ];
    for (const act of acts) await expect(act()).rejects.toMatchObject(stopped);
    expect(calls()).toBe(0);
  });
});
