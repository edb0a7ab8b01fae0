import type { JsonValue } from '../internal/json.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isAhead, isUnsettled, type OrderRecord, orderIdDigest, readRecord } from './order-record.ts';

export type OrderRecords = ReturnType<typeof orderRecords>;

/** One record for each order, and one more in an index while it is unsettled. */
export function orderRecords({
  store,
  prefix,
  rememberMs,
  now,
}: {
  readonly store: RecordStore;
  readonly prefix: string;
  readonly rememberMs: number | undefined;
  readonly now: () => number;
}) {
  const recordKey = (digest: string) => `${prefix}order:${digest}`;
  const indexPrefix = `${prefix}unsettled:`;

  async function readMany(digests: readonly string[]): Promise<OrderRecord[]> {
    const keys = digests.map(recordKey);
    const values = await store.transact(keys, (records) => keys.map((key) => records.get(key)));
    return values.map(readRecord).filter((record) => record !== undefined);
  }

  return {
    async read(partnerOrderId: string): Promise<OrderRecord | undefined> {
      const [record] = await readMany([orderIdDigest(partnerOrderId)]);
      return record;
    },

    /**
     * Changes a record, and the index with it.
     *
     * @param change pure, as for {@link RecordStore.transact}; returning its argument or `undefined` changes nothing
     * @param through instead of the journal's own store
     */
    async update(
      partnerOrderId: string,
      change: (record: OrderRecord | undefined) => OrderRecord | undefined,
      through: RecordStore = store,
    ): Promise<OrderRecord | undefined> {
      const digest = orderIdDigest(partnerOrderId);
      const key = recordKey(digest);
      const index = indexPrefix + digest;
      return await through.transact([key, index], (records) => {
        const before = readRecord(records.get(key));
        const after = change(before);
        if (after === undefined || after === before) return after;
        const unsettled = isUnsettled(after);
        const expiresAt = unsettled || rememberMs === undefined ? undefined : now() + rememberMs;
        records.set(key, toValue(after), { expiresAt });
        if (unsettled) records.set(index, after.openedAt);
        else records.delete(index);
        return after;
      });
    },

    /** Those that have been unsettled longest come first. */
    async unsettled({
      openedBefore,
      limit,
    }: {
      openedBefore: number;
      limit: number;
    }): Promise<OrderRecord[]> {
      const found: { digest: string; openedAt: number }[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.list({ prefix: indexPrefix, after, limit: pageSize });
        for (const { key, value } of page) {
          const openedAt = Number(value);
          const at = now();
          // The clock of another process may be a little ahead.
          if (Math.min(openedAt, at) <= openedBefore || isAhead(openedAt, at))
            found.push({ digest: key.slice(indexPrefix.length), openedAt });
        }
        if (page.length < pageSize) break;
        after = page.at(-1)?.key;
      }
      found.sort((one, other) => one.openedAt - other.openedAt);
      const wanted = found.slice(0, limit).map(({ digest }) => digest);
      const records: OrderRecord[] = [];
      for (let start = 0; start < wanted.length; start += chunkSize) {
        records.push(...(await readMany(wanted.slice(start, start + chunkSize))));
      }
      // Some may have been settled meanwhile.
      return records.filter(isUnsettled);
    },
  };
}

const pageSize = 1000;
/** Records read in one transaction, which delays every writer of one of their keys. */
const chunkSize = 100;

/** Sound: a record has only JSON members, and those that are `undefined` are left out. */
function toValue(record: OrderRecord): JsonValue {
  return record as JsonValue;
}
