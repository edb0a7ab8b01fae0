import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { storeInBatches } from '../../src/store/batches.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { nextTurn } from '../support/next-turn.ts';

/** A store in batches, and the keys of each transaction below it. @param before held up until this resolves */
function open({ slowAfterMs = 60_000, before = async (_transaction: number) => {} } = {}) {
  const inner = memoryStore();
  const transactions: (readonly string[])[] = [];
  const store = storeInBatches(
    {
      ...inner,
      async transact(keys, change) {
        transactions.push(keys);
        await before(transactions.length);
        return await inner.transact(keys, change);
      },
    },
    { slowAfterMs },
  );
  const append = (key: string, text: string) =>
    store.transact([key], (records) => {
      const value = `${records.get(key) ?? ''}${text}`;
      records.set(key, value);
      return value;
    });
  return { inner, store, transactions, append };
}

describe('a store in batches', () => {
  it('makes one transaction of changes that come together, in their order, each with its own result', async () => {
    const { store, transactions, append } = open();
    const changes = [append('a', '1'), append('b', '2'), append('a', '3')];
    expect(await Promise.all(changes)).toEqual(['1', '2', '13']);
    expect(transactions).toEqual([['a', 'b', 'a']]);
    expect(await store.list({ prefix: '', limit: 5 })).toMatchObject([{ value: '13' }, { value: '2' }]);
  });

  it('has two transactions under way, and makes the next one of all that comes meanwhile', async () => {
    const ends = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const { transactions, append } = open({
      before: (number) => ends[number - 1]?.promise ?? Promise.resolve(),
    });
    const changes: Promise<string>[] = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      changes.push(append(key, '1'));
      await nextTurn();
    }
    expect(transactions).toEqual([['a'], ['b']]);
    ends[1]?.resolve();
    await changes[1];
    await nextTurn();
    expect(transactions).toEqual([['a'], ['b'], ['c', 'd']]);
    for (const { resolve } of ends) resolve();
    expect(await Promise.all(changes)).toEqual(['1', '1', '1', '1']);
  });

  it.each([0, 1, 2])(
    'fails a change that throws alone, also number %i of three, and writes nothing of it',
    async (bad) => {
      const { store, inner } = open();
      const changes = [0, 1, 2].map((number) =>
        store.transact([`${number}`], (records) => {
          records.set(`${number}`, number);
          if (number === bad) throw new Error('refused');
          return number;
        }),
      );
      const results = await Promise.allSettled(changes);
      for (const [number, result] of results.entries())
        expect(result).toMatchObject(number === bad ? { reason: { message: 'refused' } } : { value: number });
      expect(await inner.list({ prefix: '', limit: 5 })).toHaveLength(2);
    },
  );

  it.each([
    ['again alone before it is slow', 999, [['a', 'b'], ['a'], ['b']]],
    ['nothing again once it is slow, since their callers may have left', 1_000, [['a', 'b']]],
  ])('tries of the changes of a batch that fails %s', async (_, took, expected) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.advanceTimersByTime(5_000);
    const { transactions, append } = open({
      slowAfterMs: 1_000,
      async before() {
        vi.advanceTimersByTime(took);
        throw new Error('down');
      },
    });
    for (const result of await Promise.allSettled([append('a', '1'), append('b', '2')]))
      expect(result).toMatchObject({ reason: { message: 'down' } });
    expect(transactions).toEqual(expected);
  });

  it('lets others go on when batches are never answered', async () => {
    const hang = () => new Promise<void>(() => {});
    const { append } = open({
      slowAfterMs: 20,
      before: (number) => (number <= 2 ? hang() : Promise.resolve()),
    });
    for (const key of ['a', 'b']) {
      void append(key, '1');
      await nextTurn();
    }
    expect(await append('c', '1')).toBe('1');
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

  it('shares nothing on workerd, where the work of a cancelled request never ends', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    onTestFinished(() => void vi.unstubAllGlobals());
    const { transactions, append } = open();
    await Promise.all([append('a', '1'), append('b', '2')]);
    expect(transactions).toEqual([['a'], ['b']]);
  });

  it('is not closed before the change under way has ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const held = Promise.withResolvers<void>();
    const { store, append } = open({ before: () => held.promise });
    void append('a', '1');
    await nextTurn();
    const end = vi.fn();
    const closed = store.close().then(end);
    await vi.advanceTimersByTimeAsync(1);
    await nextTurn();
    expect(end).not.toHaveBeenCalled();
    held.resolve();
    await closed;
  });

  it('waits when it is closed for changes that have begun, also in later batches, and leaves its store open', async () => {
    const { store, append, inner } = open();
    for (let number = 0; number < 250; number++) void append(`${number}`, '1');
    await store.close();
    expect(await inner.list({ prefix: '', limit: 1_000 })).toHaveLength(250);
  });
});
