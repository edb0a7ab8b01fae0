import { expect, it } from 'vitest';
import { type BatchOptions, batched } from '../../src/store/batches.ts';
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

it('batched fails only the item whose result is an error, and does no other again', async () => {
  const given: (readonly string[])[] = [];
  const { add } = batched(async (items: readonly string[]) => {
    given.push(items);
    return items.map((item) => (item === 'bad' ? new Error('refused') : item));
  }, bounds);
  const results = await Promise.allSettled(['A', 'bad', 'C'].map(add));
  expect(results).toMatchObject([{ value: 'A' }, { reason: { message: 'refused' } }, { value: 'C' }]);
  expect(given).toEqual([['A', 'bad', 'C']]);
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
