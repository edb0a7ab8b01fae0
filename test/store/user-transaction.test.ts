import { expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/store/memory-store.ts';
import { once } from '../../src/store/once.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';

it('once refuses a store in a transaction of the user, whose rollback would forget the effect', async () => {
  const run = vi.fn();
  const client = { query: async () => {}, getTransactionStatus: () => 'T' };
  await expect(once(postgresStore({ client }), 'A-1', run)).rejects.toThrow('transactions');
  expect(run).not.toHaveBeenCalled();
});

it('once keeps keys and fingerprints apart that differ in half of a surrogate pair', async () => {
  const store = memoryStore();
  const keys = ['A-\ud800', 'A-\ud801', 'A-\udc00', 'A-\ufffd', 'A-\u{1f600}'];
  const results = [];
  for (const [index, key] of [...keys, ...keys].entries()) results.push(await once(store, key, () => index));
  expect(results).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  await once(store, 'B-1', () => 1, { fingerprint: '\ud800' });
  await expect(once(store, 'B-1', () => 2, { fingerprint: '\ud801' })).rejects.toMatchObject({
    code: 'different_input',
  });
});
