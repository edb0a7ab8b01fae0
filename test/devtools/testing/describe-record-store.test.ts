import { describe, expect, it } from 'vitest';
import {
  describeRecordStore,
  type MakeRecordStore,
} from '../../../src/devtools/testing/describe-record-store.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';

/** The tests of the suite that fail for a store, by the group that they are in. */
async function failedGroups(make: MakeRecordStore): Promise<string[]> {
  const tests: { group: string; run: () => Promise<void> }[] = [];
  let group = '';
  const runner = {
    describe(name: string, define: () => void) {
      group = name;
      define();
    },
    it(_name: string, run: () => Promise<void>) {
      tests.push({ group, run });
    },
  };
  describeRecordStore(runner, make);
  const failed = new Set<string>();
  for (const test of tests) await test.run().catch(() => failed.add(test.group));
  return [...failed];
}

/** A store in memory, with what a careless author has made of it. */
function careless(spoil: (store: RecordStore, now: () => number) => Partial<RecordStore>): MakeRecordStore {
  const stores = new Map<string, RecordStore>();
  return ({ now, data }) => {
    const sound = memoryStore({ now });
    const store = stores.get(data) ?? { ...sound, ...spoil(sound, now) };
    stores.set(data, store);
    return store;
  };
}

type Records = Parameters<Parameters<RecordStore['transact']>[1]>[0];

/** A store whose records behave otherwise in every change. */
const withRecords = (spoil: (records: Records) => Partial<Records>) =>
  careless(({ transact }) => ({
    transact: (keys, change) =>
      transact(keys, (records) =>
        change({
          get: (key) => records.get(key),
          set: (...set) => records.set(...set),
          delete: (key) => records.delete(key),
          ...spoil(records),
        }),
      ),
  }));

const turn = () => new Promise((resolve) => setTimeout(resolve));

/** A careless author's stores, by the group of the suite that refuses them. */
const mistakes: [group: string, mistake: string, make: MakeRecordStore][] = [
  ['reads and writes', 'forgets what is deleted', withRecords(() => ({ delete: () => {} }))],
  [
    'all or nothing',
    'keeps what was set before an error',
    careless(({ transact }) => ({
      transact: async (keys, change) => {
        const run = await transact(keys, (records) => {
          try {
            const result = change(records);
            return () => result;
          } catch (error) {
            return () => {
              throw error;
            };
          }
        });
        return run();
      },
    })),
  ],
  [
    'changes at the same time',
    'reads and writes in two steps',
    careless(({ transact }) => ({
      transact: async (keys, change) => {
        const before = await transact(keys, (records) => keys.map((key) => records.get(key)));
        await turn();
        return transact(keys, (records) =>
          change({
            get: (key) => before[keys.indexOf(key)],
            set: (...set) => records.set(...set),
            delete: (key) => records.delete(key),
          }),
        );
      },
    })),
  ],
  ['expiry', 'has no expiry', withRecords((records) => ({ set: (key, value) => records.set(key, value) }))],
  [
    'list',
    'lists in no order',
    careless(({ list }) => ({ list: async (options) => (await list(options)).reverse() })),
  ],
  [
    'refuses',
    'takes any key',
    careless(({ transact }) => ({
      transact: (keys, change) =>
        transact(
          keys.map((key) => (/^[!-~]{1,512}$/.test(key) ? key : 'other')),
          change,
        ),
    })),
  ],
  ['close', 'goes on after it was closed', careless(() => ({ close: async () => {} }))],
  [
    'close',
    'does not wait for what has begun',
    careless(({ transact }) => ({
      transact: async (keys, change) => {
        const result = await transact(keys, change);
        await turn().then(turn).then(turn);
        return result;
      },
    })),
  ],
];

describe('describeRecordStore', () => {
  it('passes a sound store', async () => {
    expect(await failedGroups(careless(() => ({})))).toEqual([]);
  });

  it.each(mistakes)('%s: fails a store that %s', async (group, _, make) => {
    expect(await failedGroups(make)).toContain(group);
  });
});
