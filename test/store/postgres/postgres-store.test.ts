import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { statementsFor } from '../../../src/store/postgres/statements.ts';
import type { RecordSet } from '../../../src/store/record-store.ts';
import { userTransactionOf } from '../../../src/store/user-transaction.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { increment, read, set } from '../counted.ts';

interface Reply {
  readonly rows?: readonly object[];
  readonly rowCount?: number;
  readonly command?: string;
}

/** A store over a pool whose server answers as it is told, and the statements that it got, by their first word. */
function open({ answer = (_word: string): Reply | Promise<Reply> => ({}), storeTimeoutMs = 1_000 } = {}) {
  const texts: string[] = [];
  const words: string[] = [];
  const query = async (text: string) => {
    const [word = ''] = text.trim().split(/[\s;]/);
    texts.push(text);
    words.push(word);
    return { rows: [], rowCount: 0, command: word, ...(await answer(word)) };
  };
  const release = vi.fn();
  const client = { query, release, on() {} };
  const pool = { query, connect: async () => client, totalCount: 1, on() {} };
  return { store: postgresStore({ client: pool, storeTimeoutMs }), texts, words, release };
}

/** As pg tells of an error of the server. */
function serverError(code: string): Error {
  return Object.assign(new Error('PostgreSQL refused.'), { severity: 'ERROR', code });
}

const fakeClock = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
};

describe('postgresStore', () => {
  it.each<[string, (records: RecordSet) => void, string[]]>([
    ['reads', (records) => records.get('a'), []],
    ['sets', (records) => records.set('a', 1), ['INSERT']],
    ['deletes', (records) => records.delete('a'), ['DELETE']],
    [
      'sets and deletes',
      (records) => {
        records.set('a', 1);
        records.delete('b');
      },
      ['DELETE', 'INSERT'],
    ],
  ])('sends no more statements than a change needs that %s', async (_, change, writes) => {
    const { store, words } = open();
    await store.transact(['a', 'b'], change);
    expect(words.slice(0, 3 + writes.length)).toEqual(['BEGIN', 'SELECT', ...writes, 'COMMIT']);
  });

  it('waits for a lock for half of its time, so that the other half is left', async () => {
    const { store, texts } = open({ storeTimeoutMs: 3_001 });
    await read(store);
    expect(/lock_timeout = (\d+)/.exec(texts[0] ?? '')?.[1]).toBe('1501');
  });

  it('says that nothing was written when the end of a change that only reads is lost', async () => {
    const { store } = open({
      answer: (word) => (word === 'COMMIT' ? Promise.reject(new Error('cut')) : {}),
    });
    await expect(read(store)).rejects.toThrow('nothing was written');
    await expect(increment(store)).rejects.toThrow('may have been written');
  });

  it('makes no table, and tries nothing again, for an error that has another reason', async () => {
    const denied = serverError('42501');
    const { store, words } = open({ answer: () => Promise.reject(denied) });
    const failed = { code: 'store_failed', cause: { code: '42501' } };
    await expect(increment(store)).rejects.toMatchObject(failed);
    await expect(store.list({ prefix: '', limit: 1 })).rejects.toMatchObject(failed);
    expect(words).toEqual(['BEGIN', 'SELECT']);
  });

  it('commits nothing after its time limit, and gives the client back once, to be destroyed', async () => {
    fakeClock();
    const read = Promise.withResolvers<Reply>();
    // A connection that cannot be ended: the answer still comes.
    const { store, words, release } = open({ answer: (word) => (word === 'SELECT' ? read.promise : {}) });
    const change = expect(increment(store)).rejects.toThrow('nothing was written');
    await nextTurn();
    await vi.advanceTimersByTimeAsync(1_000);
    await change;
    read.resolve({});
    await nextTurn();
    expect(words).toEqual(['BEGIN', 'SELECT']);
    expect(release.mock.calls).toEqual([[true]]);
  });

  it.each(['40P01', '40001'])('begins again after the conflict %s, ten times at most', async (code) => {
    fakeClock();
    const { store, words } = open({
      answer: (word) => (word === 'SELECT' ? Promise.reject(serverError(code)) : {}),
    });
    const end = Promise.allSettled([increment(store)]);
    for (let attempts = 0; attempts < 10; attempts++) {
      await nextTurn();
      await vi.advanceTimersByTimeAsync(200);
    }
    const [result] = await Promise.race([end, nextTurn().then(() => [])]);
    expect(result).toMatchObject({ reason: { code: 'store_conflict', cause: { code } } });
    expect(words.filter((word) => word === 'BEGIN')).toHaveLength(10);
  });

  describe('deletes expired records', () => {
    /** How often it did, after changes at these milliseconds. */
    async function sweepsAt(times: readonly number[], answer: () => Reply | Promise<Reply>): Promise<number> {
      fakeClock();
      const { store, words } = open({ answer: (word) => (word === 'DELETE' ? answer() : {}) });
      let passed = 0;
      for (const time of times) {
        vi.advanceTimersByTime(time - passed);
        passed = time;
        await set(store, 'a', 1);
        await nextTurn();
      }
      return words.filter((word) => word === 'DELETE').length;
    }

    it.each<[string, number, () => Reply | Promise<Reply>]>([
      ['after a second again when it found few', 2, () => ({ rowCount: 199 })],
      ['with each change when there are more', 4, () => ({ rowCount: 200 })],
      ['after a second again when it failed', 2, () => Promise.reject(serverError('57014'))],
      ['not a second time meanwhile', 1, () => new Promise(() => {})],
    ])('%s', async (_, count, answer) => {
      expect(await sweepsAt([0, 1, 999, 1_000], answer)).toBe(count);
    });
  });

  it('waits with the failure of the transaction of the user until a change has ended', async () => {
    const texts: string[] = [];
    const query = async (text: string) => {
      await nextTurn();
      texts.push(text);
      return { rows: [{ isolation: 'read committed' }], command: '' };
    };
    const store = postgresStore({ client: { query, getTransactionStatus: () => 'T' } });
    const change = store.transact(['a'], (records) => records.set('a', 1));
    await Promise.all([change, userTransactionOf(store)?.fail()]);
    expect(texts.at(-2)).toContain('RELEASE');
    expect(texts.at(-1)).toContain('1 / 0');
  });

  it('takes the locks of keys in one order, however they are named', () => {
    const { lock } = statementsFor({ schema: undefined, table: 'records' });
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const numbers = /'\{([-\d,]+)\}'/.exec(lock(keys))?.[1]?.split(',').map(BigInt);
    expect(numbers).toHaveLength(5);
    expect(numbers).toEqual(numbers?.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(lock(keys.toReversed())).toBe(lock(keys));
  });
});
