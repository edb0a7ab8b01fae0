import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, type SqliteStore } from '../../src/inbox/sqlite/delivery-table.ts';
import type { LineChart } from './chart.ts';
import { median, ratio } from './measure.ts';
import type { Finding, Section } from './report.ts';

const backlogs = [1_000, 100_000, 1_000_000];
/** How much more it may cost among the longest backlog than among the shortest: an index is a few pages deeper. */
const budget = 3;
const rounds = 200;
const now = 1_000_000_000;

/** What each of these costs in a SQLite inbox with so many deliveries waiting, beside the same with 1,000. */
export function benchBacklog(): Omit<Section, 'title'> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-backlog-'));
  const store = openSqliteStore({
    path: join(folder, 'inbox.sqlite'),
    busyTimeoutMs: 1_000,
    leaseMs: 65_000,
    longestWaitMs: 660_000,
    rememberMs: 1e9,
    maxAttempts: 8,
  });
  try {
    // What the disk does is the same however many are waiting.
    store.database.exec('PRAGMA synchronous = OFF');
    const findings: Finding[] = [];
    const lines = new Map<string, (readonly [number, number])[]>();
    let waiting = 0;
    let few: Costs | undefined;
    for (const backlog of backlogs) {
      fill(store, backlog - waiting);
      waiting = backlog;
      const costs = measure(store);
      few ??= costs;
      for (const [what, cost] of Object.entries(costs)) {
        lines.set(what, [...(lines.get(what) ?? []), [backlog, median(cost) * 1000]]);
        findings.push({
          what: `${backlog.toLocaleString('en')}: ${what} (${(median(cost) * 1000).toFixed(0)} µs)`,
          // Sound: both have the names that measure gives.
          measured: ratio(cost, few[what as keyof Costs]),
          atMost: backlog === 1_000 ? undefined : budget,
        });
      }
    }
    const chart: LineChart = {
      kind: 'lines',
      name: 'cost-by-backlog-sqlite',
      title: 'SQLite inbox, by the deliveries that wait',
      description:
        'Microseconds for the work of the inbox stay about the same from 1,000 to 1,000,000 waiting.',
      x: 'deliveries that wait',
      y: 'µs',
      lines: [...lines].map(([label, points]) => ({ label, own: true, points })),
    };
    return { findings, charts: [chart] };
  } finally {
    store.database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Costs = ReturnType<typeof measure>;

/** Milliseconds of each, in every round. */
function measure(store: SqliteStore) {
  const time = (work: () => void) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      work();
      times.push(performance.now() - begun);
    }
    return times;
  };
  store.database.exec('BEGIN');
  // The engine compiles it first.
  for (let round = 0; round < rounds; round++) store.lease(10, now - 1);
  const costs = {
    'when is the next one due': time(() => {
      store.untilNext(now);
    }),
    'lease ten and put them back': time(() => {
      for (const one of store.lease(10, now)) store.postpone(one, now, '');
    }),
    'nothing to lease': time(() => {
      store.lease(10, now - 1);
    }),
  };
  store.database.exec('ROLLBACK');
  return costs;
}

/** In one statement: a million calls would take a minute. */
function fill(store: SqliteStore, count: number): void {
  store.database.exec('PRAGMA cache_size = -400000');
  store.database
    .prepare(
      `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT ?)
       INSERT INTO partner_inbox_delivery (digest, name, matched_key, body, received_at, due_at)
       SELECT randomblob(32), 'event.buy.init', '{"index":0}', '{}', ?, ? FROM numbers`,
    )
    .run(count, now, now);
  // As SQLite has it otherwise.
  store.database.exec('PRAGMA cache_size = -2000');
}
