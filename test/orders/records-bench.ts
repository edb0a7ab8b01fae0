import { orderIdDigest } from '../../src/deployment/reply-shape.ts';
import { StoreError } from '../../src/errors/errors.ts';
import type { OrderRecord } from '../../src/orders/order-record.ts';
import { OrderStore } from '../../src/orders/order-store.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';

export const hour = 3_600_000;

export interface RecordsOptions {
  readonly rememberMs?: number;
  readonly firstEventWithinMs?: number | undefined;
}

/** The records of a journal, over a store whose calls a test sees, and whose transactions it can make fail. */
export function recordsBench(options: RecordsOptions = {}) {
  const clock = { now: 1_700_000_000_000 };
  const now = () => clock.now;
  const memory = memoryStore({ now });
  const calls: string[][] = [];
  const written: string[] = [];
  /** Called before each transaction with its keys, and after each that was committed. */
  const hooks: { before: (keys: readonly string[]) => void; after: () => void } = {
    before: () => {},
    after: () => {},
  };
  const store: RecordStore = {
    ...memory,
    async transact(keys, change) {
      calls.push([...keys]);
      hooks.before(keys);
      const result = await memory.transact(keys, (records) =>
        change({
          get: (key) => records.get(key),
          delete: (key) => records.delete(key),
          set(key, value, expiry) {
            written.push(key);
            records.set(key, value, expiry);
          },
        }),
      );
      hooks.after();
      return result;
    },
    async list(wanted) {
      calls.push([`list ${wanted.prefix}`]);
      return await memory.list(wanted);
    },
  };
  const defaults = { store, prefix: 'o:', rememberMs: undefined, firstEventWithinMs: hour, now };
  const open = (more: RecordsOptions = {}) => new OrderStore({ ...defaults, ...options, ...more });
  return { records: open(), open, clock, now, memory, calls, written, hooks };
}

export type RecordsBench = ReturnType<typeof recordsBench>;

/** The keys of an order and of its entry in the index. */
export const keyOf = (id: string) => `o:order:${orderIdDigest(id)}`;
export const indexOf = (id: string) => `o:open:${orderIdDigest(id)}`;

export const down = () => {
  throw new StoreError('store_failed', 'down');
};

export function recordOf(id: string, { clock }: RecordsBench, more: Partial<OrderRecord> = {}): OrderRecord {
  return {
    ...{ version: 1, partner_order_id: id, digest: 'd', state: 'unknown', attempts: 1, unresolved: ['a'] },
    ...{ createdAt: clock.now, openedAt: clock.now, askedAt: clock.now, changedAt: clock.now },
    ...{ revision: 0, ordered: {} },
    ...more,
  };
}

/** Writes an order as it is. */
export async function put(to: RecordsBench, id: string, more: Partial<OrderRecord> = {}) {
  return (await to.records.update(id, () => recordOf(id, to, more))).after;
}

export async function keysIn({ memory }: RecordsBench, prefix: string) {
  return (await memory.list({ prefix, limit: 1000 })).map(({ key }) => key);
}

export const idsOf = (orders: readonly OrderRecord[]) => orders.map(({ partner_order_id: id }) => id);

export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
