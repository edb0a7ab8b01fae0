import { describe, expect, it, vi } from 'vitest';
import { engineStore } from '../../src/store/engine-store.ts';
import { nextTurn } from '../support/next-turn.ts';

function open(tidy: () => Promise<unknown>) {
  const close = vi.fn();
  const store = engineStore({
    transact: async (_, change) => change({ get: () => undefined, set() {}, delete() {} }),
    list: async () => [],
    tidy,
    close,
  });
  return { store, close };
}

describe('a store', () => {
  it('ends its engine once, after it has tidied up', async () => {
    const tidied = Promise.withResolvers<void>();
    const { store, close } = open(() => tidied.promise);
    expect(await store.transact(['a'], () => 'changed')).toBe('changed');
    const closed = [store.close(), store.close()];
    await nextTurn();
    expect(close).not.toHaveBeenCalled();
    tidied.resolve();
    await Promise.all(closed);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('makes a change although it cannot tidy up, and tidies nothing after a change that failed', async () => {
    const tidy = vi.fn(async () => {
      throw new Error('no');
    });
    const { store } = open(tidy);
    expect(await store.transact(['a'], () => 'changed')).toBe('changed');
    await expect(store.transact([], () => 'changed')).rejects.toThrow('keys');
    await store.close();
    expect(tidy).toHaveBeenCalledTimes(1);
  });
});
