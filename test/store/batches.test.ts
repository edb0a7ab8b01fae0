import { describe, expect, it, vi } from 'vitest';
import { type BatchOptions, batched, storeInBatches } from '../../src/store/batches.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { nextTurn } from '../support/next-turn.ts';

const bounds: BatchOptions = { maxItems: 100, concurrency: 1, slowAfterMs: 60_000 };

/** Work that ends when it is told to, and what it was given. */
function heldWork() {
  const batches: { readonly items: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const work = (items: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      const end = (error?: Error) =>
        error === undefined ? resolve(items.map((item) => `${item} done`)) : reject(error);
      batches.push({ items, end });
    });
  return { batches, work, given: () => batches.map(({ items }) => items) };
}

const turn = () => nextTurn();

it('batched does together what comes together, and what comes while that is under way, each with its own result', async () => {
  const { batches, work, given } = heldWork();
  const { add } = batched(work, bounds);
  const first = ['A', 'B', 'C'].map(add);
  await turn();
  const second = ['D', 'E'].map(add);
  await turn();
  second.push(add('F'));
  await turn();
  expect(given()).toEqual([['A', 'B', 'C']]);
  batches[0]?.end();
  expect(await Promise.all(first)).toEqual(['A done', 'B done', 'C done']);
  await turn();
  expect(given()).toEqual([
    ['A', 'B', 'C'],
    ['D', 'E', 'F'],
  ]);
  batches[1]?.end();
  expect(await Promise.all(second)).toEqual(['D done', 'E done', 'F done']);
});

it('batched gives the work no more items than it may have, nor more batches at a time', async () => {
  const { batches, work, given } = heldWork();
  const { add } = batched(work, { ...bounds, maxItems: 2, concurrency: 2 });
  const all = ['A', 'B', 'C', 'D', 'E'].map(add);
  await turn();
  expect(given()).toEqual([
    ['A', 'B'],
    ['C', 'D'],
  ]);
  batches[1]?.end();
  await all[3];
  await turn();
  expect(given()).toHaveLength(3);
  batches[0]?.end();
  batches[2]?.end();
  expect(await Promise.all(all)).toHaveLength(5);
});

it.each([0, 1, 2])('batched fails a bad item alone, also number %i of three', async (bad) => {
  const { add } = batched(async (items: readonly number[]) => {
    if (items.includes(bad)) throw new Error(`${bad} is bad`);
    return items.map((item) => item * 10);
  }, bounds);
  const results = await Promise.allSettled([0, 1, 2].map(add));
  for (const [item, result] of results.entries()) {
    expect(result).toMatchObject(
      item === bad ? { reason: { message: `${bad} is bad` } } : { value: item * 10 },
    );
  }
});

it('batched tries nothing again once a batch is slow: its callers may have left', async () => {
  const tried: number[] = [];
  const { add } = batched(
    async (items: readonly string[]) => {
      tried.push(items.length);
      throw new Error('down');
    },
    { ...bounds, slowAfterMs: 0 },
  );
  for (const result of await Promise.allSettled(['A', 'B'].map(add)))
    expect(result).toMatchObject({ reason: { message: 'down' } });
  expect(tried).toEqual([2]);
});

it('batched lets others go on when a batch is never answered', async () => {
  const { batches, work, given } = heldWork();
  const { add } = batched(work, { ...bounds, slowAfterMs: 20 });
  const late = add('A');
  await turn();
  const other = add('B');
  await expect.poll(given).toEqual([['A'], ['B']]);
  batches[1]?.end();
  expect(await other).toBe('B done');
  batches[0]?.end();
  expect(await late).toBe('A done');
});

it('batched is drained when all has ended, also what no batch had begun with', async () => {
  const { batches, work } = heldWork();
  const { add, drain } = batched(work, { ...bounds, maxItems: 1 });
  const ended: string[] = [];
  for (const item of ['A', 'B']) void add(item).then((result) => ended.push(result));
  const drained = drain().then(() => ended.push('drained'));
  await expect.poll(() => batches).toHaveLength(1);
  batches[0]?.end();
  await expect.poll(() => batches).toHaveLength(2);
  batches[1]?.end();
  await drained;
  expect(ended).toEqual(['A done', 'B done', 'drained']);
  await drain();
});

describe('a store in batches', () => {
  /** Such a store, and the keys of each transaction below it. */
  function open() {
    const inner = memoryStore();
    const transactions: (readonly string[])[] = [];
    const store = storeInBatches(
      {
        ...inner,
        transact(keys, change) {
          transactions.push(keys);
          return inner.transact(keys, change);
        },
      },
      { slowAfterMs: 60_000 },
    );
    const append = (key: string, text: string) =>
      store.transact([key], (records) => {
        const value = `${records.get(key) ?? ''}${text}`;
        records.set(key, value);
        return value;
      });
    return { inner, store, transactions, append };
  }

  it('makes one transaction of changes that come together, in their order, each with its own result', async () => {
    const { store, transactions, append } = open();
    expect(await Promise.all([append('a', '1'), append('b', '2'), append('a', '3')])).toEqual([
      '1',
      '2',
      '13',
    ]);
    expect(transactions).toEqual([['a', 'b', 'a']]);
    expect(await store.list({ prefix: '', limit: 5 })).toMatchObject([{ value: '13' }, { value: '2' }]);
  });

  it('fails a change that throws alone, and writes nothing of it', async () => {
    const { store, append, inner } = open();
    const bad = store.transact(['bad'], (records) => {
      records.set('bad', 1);
      throw new Error('refused');
    });
    const results = await Promise.allSettled([append('a', '1'), bad, append('b', '2')]);
    expect(results).toMatchObject([{ value: '1' }, { reason: { message: 'refused' } }, { value: '2' }]);
    expect((await inner.list({ prefix: '', limit: 5 })).map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('leaves a change of many keys its own transaction, and no transaction has too many keys', async () => {
    const { store, transactions } = open();
    const keys = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}${at}`);
    const many = store.transact(keys(1_000, 'many'), () => 'many');
    const few = Array.from({ length: 300 }, (_, at) => store.transact(keys(5, `few${at}/`), () => at));
    expect(await many).toBe('many');
    expect(await Promise.all(few)).toEqual(Array.from({ length: 300 }, (_, at) => at));
    expect(transactions.map(({ length }) => length)).toEqual([1_000, 500, 500, 500]);
  });

  it('adds nothing to a store whose changes share a commit already', async () => {
    const inner = memoryStore();
    const transact = vi.spyOn(inner, 'transact');
    const store = storeInBatches(inner, { slowAfterMs: 60_000 });
    await Promise.all(['a', 'b'].map((key) => store.transact([key], () => {})));
    expect(transact.mock.calls.map(([keys]) => keys)).toEqual([['a'], ['b']]);
  });

  it('waits for changes that have begun when it is closed, and leaves its store open', async () => {
    const { store, append, inner } = open();
    void append('a', '1');
    await store.close();
    expect(await inner.list({ prefix: '', limit: 5 })).toHaveLength(1);
  });
});
