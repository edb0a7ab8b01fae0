import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Delivery } from '../../src/inbox/inbox.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import {
  deliveryForm,
  deliveryIndexes,
  deliveryKey,
  handledRecord,
} from '../../src/inbox/store/record-form.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { recordTable } from '../../src/store/sqlite/record-table.ts';
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { type Load, openLoad } from './http-load.ts';
import { makeRequests } from './http-requests.ts';
import type { InboxUsage } from './inbox-sqlite-server.ts';
import { estimate, median, ratio } from './measure.ts';
import { pin } from './pin.ts';
import type { Finding, Section } from './report.ts';
import { sampleText } from './sample-event.ts';

/** Of what plain SQL stores a second. */
const leastShare = 0.55;
const rounds = 15;
const roundMs = 150;
const http = { rounds: 9, deliveries: 5_000, warmup: 15_000, connections: 32 };

/** What the SQLite inbox costs: beside plain SQL in this process, and over HTTP. Every commit waits for the disk. */
export async function benchSqliteInbox(): Promise<Section[]> {
  return [
    {
      title: 'SQLite inbox: stored a second / the same rows inserted in groups by plain SQL',
      findings: [
        await compareWithSql({ role: 'receiver', callers: 1 }),
        await compareWithSql({ role: 'receiver', callers: 32 }),
        await compareWithSql({ role: 'both', callers: 32 }),
      ],
    },
    {
      title: `CPU of a delivery over HTTP, ${http.connections} connections: verified, acknowledged, handled`,
      findings: await measureOverHttp(),
    },
  ];
}

interface Compared {
  /** `both`: handled by a handler that does nothing as well, and the time until the last one is counted. */
  readonly role: 'both' | 'receiver';
  /** How many wait for their delivery at once; so many share a commit. */
  readonly callers: number;
}

async function compareWithSql({ role, callers }: Compared): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
  const ours = openInbox(join(folder, 'inbox.sqlite'), { role, callers });
  const plain = openPlain(join(folder, 'plain.sqlite'), { role, callers });
  try {
    const rates = { ours: [] as number[], plain: [] as number[] };
    // One round more, which only warms up.
    for (let round = 0; round <= rounds; round++) {
      const order = round % 2 === 0 ? (['ours', 'plain'] as const) : (['plain', 'ours'] as const);
      for (const name of order) {
        const rate = await measureRate(name === 'ours' ? ours : plain);
        if (round > 0) rates[name].push(rate);
      }
    }
    const handling = role === 'both' ? 'stored and handled' : 'stored';
    return {
      what: `${handling}, ${callers} at once (${median(rates.ours).toFixed(0)} /s)`,
      measured: ratio(rates.ours, rates.plain),
      atLeast: leastShare,
    };
  } finally {
    await ours.close();
    await plain.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Contender {
  /** Stores deliveries until then, and says how many. */
  store(until: number): Promise<number> | number;
  close(): Promise<unknown> | unknown;
}

async function measureRate(contender: Contender): Promise<number> {
  const begun = performance.now();
  const stored = await contender.store(begun + roundMs);
  return (stored / (performance.now() - begun)) * 1000;
}

function openInbox(path: string, { role, callers }: Compared): Contender {
  const inbox = sqliteInbox({ path, role, concurrency: 50 });
  let open = 0;
  inbox.attach?.({
    hasHandlers: true,
    handle: async () => 'handled',
    report: () => {
      open--;
    },
  });
  return {
    async store(until) {
      let stored = 0;
      const call = async () => {
        while (performance.now() < until) {
          open++;
          await inbox.receive(nextDelivery(), async () => 'handled');
          stored++;
        }
      };
      await Promise.all(Array.from({ length: callers }, call));
      while (role === 'both' && open > 0) await setTimeout(1);
      return stored;
    },
    close: () => inbox.stop(),
  };
}

/**
 * The least that a program can do to have the same rows on disk: the table and PRAGMAs are those of the inbox. With
 * `both` each group is marked as leased by the next transaction, and as handled by the one after that.
 */
function openPlain(path: string, { role, callers }: Compared): Contender {
  const prepare = (database: DatabaseSync) => database.exec(recordTable);
  const { database, close } = openDatabase({
    path,
    busyTimeoutMs: 1_000,
    prepare,
    fail: (what) => new Error(what),
  });
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const put = database.prepare(
    'INSERT INTO partner_records VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at',
  );
  const remove = database.prepare('DELETE FROM partner_records WHERE key = ?');
  // Only the keys and the form are used.
  const indexes = deliveryIndexes({ store: memoryStore(), prefix: 'inbox/' });
  const key = (index: 'due' | 'alone', at: number, digest: string) => indexes[index].keyOf(at, digest);
  const write = (delivery: Delivery, index: string, now: number) => {
    const stored = { delivery, index, receivedAt: now, attempts: 0, reason: '', alone: false };
    put.run(
      deliveryKey('inbox/', delivery.digest),
      JSON.stringify(deliveryForm.write(stored, undefined)),
      null,
    );
    put.run(index, JSON.stringify(indexes.due.write({ receivedAt: now }, { at: now })), null);
  };
  let waiting: Written[] = [];
  let leased: Written[] = [];
  return {
    store(until) {
      let stored = 0;
      while (performance.now() < until) {
        begin.run();
        const now = Date.now();
        const added = Array.from({ length: callers }, () => {
          const delivery = nextDelivery();
          const index = key('due', now, delivery.digest);
          write(delivery, index, now);
          return { delivery, index };
        });
        if (role === 'both') {
          for (const { delivery, index } of leased) {
            const handled = JSON.stringify(handledRecord);
            put.run(deliveryKey('inbox/', delivery.digest), handled, now + 1e9);
            remove.run(index);
          }
          leased = waiting.map(({ delivery, index }) => {
            const next = key('alone', now + 65_000, delivery.digest);
            write(delivery, next, now);
            remove.run(index);
            return { delivery, index: next };
          });
          waiting = added;
        }
        commit.run();
        stored += callers;
      }
      return stored;
    },
    close,
  };
}

interface Written {
  readonly delivery: Delivery;
  /** The key of its index record. */
  readonly index: string;
}

let made = 0;

function nextDelivery(): Delivery {
  const digest = createHash('sha256').update(String(made++)).digest('hex');
  return { digest, name: 'event.buy.credited.crypto', key: { index: 0 }, body: sampleText };
}

interface Server {
  readonly process: ChildProcess;
  readonly load: Load;
  /** Deliveries that it was sent so far. */
  sent: number;
}

async function measureOverHttp(): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
  const requests = makeRequests(http.warmup + http.rounds * http.deliveries);
  const durable = await startServer(requests, join(folder, 'inbox.sqlite'));
  const memory = await startServer(requests);
  // The load on a core of its own: while it waits for one, fewer deliveries arrive together.
  pin(process.pid, 1);
  try {
    const costs = new Map<Server, number[]>([
      [durable, []],
      [memory, []],
    ]);
    for (const server of costs.keys()) await cpuOf(server, http.warmup);
    for (let round = 0; round < http.rounds; round++) {
      for (const [server, costsOf] of costs) costsOf.push(await cpuOf(server, http.deliveries));
    }
    return [
      {
        what: 'sqliteInbox',
        measured: estimate(costs.get(durable) ?? []),
        unit: 'µs',
      },
      { what: 'without an inbox: in memory', measured: estimate(costs.get(memory) ?? []), unit: 'µs' },
    ];
  } finally {
    pin(process.pid, ...Array.from({ length: availableParallelism() }, (_, core) => core));
    for (const server of [durable, memory]) {
      server.load.close();
      server.process.disconnect();
      await once(server.process, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startServer(requests: readonly Buffer[], ...path: string[]): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'inbox-sqlite-server.ts'), path);
  const [port] = await once(child, 'message');
  pin(child.pid, 0);
  return { process: child, load: await openLoad({ port, requests, connections: http.connections }), sent: 0 };
}

/** Microseconds of CPU that the server takes for each of so many deliveries, until all of them are handled. */
async function cpuOf(server: Server, count: number): Promise<number> {
  const before = await usageOf(server);
  await server.load.run({ count });
  server.sent += count;
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { handled, cpuMicros } = await usageOf(server);
    if (handled === server.sent) return (cpuMicros - before.cpuMicros) / count;
    if (performance.now() > deadline)
      throw new Error(`Only ${handled} of ${server.sent} deliveries were handled.`);
    await setTimeout(5);
  }
}

async function usageOf({ process: child }: Server): Promise<InboxUsage> {
  child.send('usage');
  const [usage] = await once(child, 'message');
  return usage;
}
