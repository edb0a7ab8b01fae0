import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { median, ratio } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleText } from './sample-event.ts';

/** Of what plain SQL stores a second. */
const leastShare = 0.55;
const rounds = 15;
const roundMs = 150;

/** The share of plain SQL's rate that the SQLite inbox reaches. Every commit waits for the disk. */
export async function benchSqliteInbox(): Promise<Finding[]> {
  return [
    await compareWithSql({ role: 'receiver', callers: 1 }),
    await compareWithSql({ role: 'receiver', callers: 32 }),
    await compareWithSql({ role: 'both', callers: 32 }),
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
  const { database, close } = openDatabase(path, 1_000);
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
    put.run(index, JSON.stringify(indexes.due.write(now, { at: now })), null);
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
