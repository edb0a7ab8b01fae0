import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { handlingRows } from '../../src/inbox/handling-options.ts';
import { deliveryRecords } from '../../src/inbox/store/delivery-records.ts';
import { deliveryForm, deliveryIndexes, deliveryKey } from '../../src/inbox/store/record-form.ts';
import { defineOptions } from '../../src/internal/options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { viewProcesses } from '../../src/store/process-identity.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { median, ratio } from './measure.ts';
import type { Finding } from './report.ts';

const backlogs = [1_000, 100_000, 1_000_000];
/** How much more it may cost among the longest backlog than among the shortest: an index is a few pages deeper. */
const budget = 3;
const rounds = 100;
const now = 1_000_000_000;
const prefix = 'inbox/';

/** What each of these costs in a SQLite inbox with so many deliveries waiting, beside the same with 1,000. */
export async function benchBacklog(): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-backlog-'));
  const path = join(folder, 'inbox.sqlite');
  const store = sqliteStore({ path });
  const clock = { now };
  const options = defineOptions('bench', handlingRows)({ now: () => clock.now });
  const processes = viewProcesses('machine');
  const records = deliveryRecords({ ...options, store, shared: store, prefix, processes });
  try {
    const findings: Finding[] = [];
    let waiting = 0;
    let few: Costs | undefined;
    for (const backlog of backlogs) {
      fill(path, backlog - waiting);
      waiting = backlog;
      const costs = await measure(records, clock);
      few ??= costs;
      for (const [what, cost] of Object.entries(costs)) {
        findings.push({
          what: `${backlog.toLocaleString('en')}: ${what} (${(median(cost) * 1000).toFixed(0)} µs)`,
          // Sound: both have the names that measure gives.
          measured: ratio(cost, few[what as keyof Costs]),
          atMost: backlog === 1_000 ? undefined : budget,
        });
      }
    }
    return findings;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Costs = Awaited<ReturnType<typeof measure>>;

/** Milliseconds of each, in every round. The disk takes the same time however many are waiting. */
async function measure(records: ReturnType<typeof deliveryRecords>, clock: { now: number }) {
  const time = async (work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      await work();
      times.push(performance.now() - begun);
    }
    return times;
  };
  const nothing = () => records.lease(10);
  clock.now = now - 1;
  // The engine compiles it first.
  await time(nothing);
  const nothingToLease = await time(nothing);
  clock.now = now;
  return {
    'nothing to lease': nothingToLease,
    'lease ten and put them back': await time(async () => {
      const { leased } = await records.lease(10);
      await Promise.all(leased.map((one) => records.putBack(one, 0)));
    }),
    'store one': await time(() => {
      const digest = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
      return records.insert({ digest, name: 'event.buy.init', key: { index: 0 }, body: '{}' });
    }),
  };
}

/** In one statement: a million calls would take minutes. */
function fill(path: string, count: number): void {
  const any = '0'.repeat(64);
  // Only the keys and the form are used.
  const indexes = deliveryIndexes({ store: memoryStore(), prefix });
  const index = indexes.due.keyOf(now, any);
  const delivery = { digest: any, name: 'event.buy.init', key: { index: 0 }, body: '{}' };
  const stored = { delivery, index, receivedAt: now, attempts: 0, reason: '', alone: false };
  const rows = [
    [deliveryKey(prefix, any), deliveryForm.write(stored, undefined)],
    [index, indexes.due.write(now, { at: now })],
  ] as const;
  const database = new DatabaseSync(path, { timeout: 10_000 });
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY');
  database.exec('CREATE TEMP TABLE digests (digest TEXT)');
  database
    .prepare(
      `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT ?)
       INSERT INTO digests SELECT lower(hex(randomblob(32))) FROM numbers`,
    )
    .run(count);
  for (const [key, value] of rows) {
    database
      .prepare(
        `INSERT INTO partner_records
         SELECT replace(:key, :any, digest), replace(:value, :any, digest), NULL FROM digests ORDER BY digest`,
      )
      .run({ key, value: JSON.stringify(value), any });
  }
  database.close();
}
