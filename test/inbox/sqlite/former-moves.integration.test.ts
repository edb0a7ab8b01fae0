import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { formerTables } from '../../../src/inbox/sqlite/former-tables.ts';
import { recordTable } from '../../../src/store/sqlite/record-table.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { formerSchema } from './former-inbox.ts';

const now = Date.UTC(2025, 0, 1);
const digestOf = (number: number) => number.toString(16).padStart(64, '0');
const keyOf = (number: number) => `inbox/delivery/${digestOf(number)}`;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Tables of an earlier version with so many deliveries, and so many digests of handled ones after them. */
function tables(deliveries: number, digests: number) {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  database.exec(`${recordTable}; ${formerSchema}`);
  const seen = database.prepare('INSERT INTO partner_inbox_seen VALUES (?, ?)');
  const delivery = database.prepare(
    `INSERT INTO partner_inbox_delivery (digest, name, matched_key, body, received_at, due_at)
     VALUES (?, 'event.buy.init', '{"index":0}', '{}', ?, ?)`,
  );
  for (let number = 0; number < deliveries + digests; number++) {
    const digest = Buffer.from(digestOf(number), 'hex');
    seen.run(digest, now);
    if (number < deliveries) delivery.run(digest, now, now);
  }
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  const left = () => [count('partner_inbox_moving_delivery'), count('partner_inbox_moving_seen')];
  const recordOf = (number: number) => {
    const row = database.prepare('SELECT value FROM partner_records WHERE key = ?').get(keyOf(number));
    return row && JSON.parse(String(row.value));
  };
  return { database, left, recordOf };
}

type Move = ReturnType<ReturnType<typeof formerTables>['start']> & object;

/** A move whose transactions the test makes one by one. */
function begin(deliveries: number, digests = 0) {
  const { database, ...rest } = tables(deliveries, digests);
  const asked: { commit: () => void; fail: (error: Error) => void }[] = [];
  const moves = formerTables({ prefix: 'inbox/', rememberMs: 1_000, now: () => now });
  moves.prepare(database);
  const move: Move =
    moves.start(
      database,
      (work) =>
        new Promise((resolve, reject) => {
          asked.push({ commit: () => resolve(work()), fail: reject });
        }),
    ) ?? expect.unreachable();
  const listed = vi.fn();
  move.whenListed().then(listed, ({ code }) => listed(code));
  return {
    ...rest,
    moves,
    move,
    database,
    listed,
    asked,
    async step(): Promise<void> {
      asked.shift()?.commit();
      await nextTurn();
    },
    async fail(error: Error): Promise<void> {
      asked.shift()?.fail(error);
      await nextTurn();
    },
  };
}

const diskFull = Object.assign(new Error('full'), { errcode: 13 });

describe('the move of an earlier version', () => {
  it('takes 200 rows at once, and lists deliveries when all of them are moved, before the digests', async () => {
    const { left, step, listed, asked } = begin(401, 250);
    const seen = [left()];
    for (let steps = 0; steps < 3; steps++) {
      await step();
      seen.push(left());
    }
    expect(seen).toEqual([
      [401, 651],
      [201, 451],
      [1, 251],
      [0, 250],
    ]);
    expect(listed).not.toHaveBeenCalled();
    // Nothing is left of them.
    await step();
    expect([listed.mock.calls, left()]).toEqual([[[undefined]], [0, 250]]);
    await step();
    expect(left()).toEqual([0, 50]);
    for (let steps = 0; steps < 2; steps++) await step();
    expect([left(), asked]).toEqual([[0, 0], []]);
  });

  it('moves what a change asks for before its turn, and nothing of other records', async () => {
    const { left, move, recordOf } = begin(2, 2);
    move.moveKeys([keyOf(1), keyOf(3), `other/delivery/${digestOf(0)}`, keyOf(9)]);
    expect(left()).toEqual([1, 2]);
    expect([recordOf(1), recordOf(3)]).toMatchObject([
      { name: 'event.buy.init', body: '{}' },
      { handled: true },
    ]);
    expect([0, 2, 9].map(recordOf)).toEqual([undefined, undefined, undefined]);
  });

  it('goes on a second after a failure, with as many rows', async () => {
    const { left, step, fail, asked } = begin(300);
    await fail(new Error('busy'));
    await vi.advanceTimersByTimeAsync(999);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await step();
    expect(left()).toEqual([100, 100]);
  });

  it('goes on with single rows where the disk is full', async () => {
    const { left, step, fail } = begin(300);
    await fail(diskFull);
    await vi.advanceTimersByTimeAsync(1_000);
    await step();
    await step();
    expect(left()).toEqual([298, 298]);
  });
});

describe('the stop of a move', () => {
  it('waits for the transaction that is under way, and asks for no other', async () => {
    const { left, step, move, listed, asked } = begin(300);
    const stopped = vi.fn();
    move.stop().then(stopped);
    await nextTurn();
    expect([listed.mock.calls, stopped.mock.calls]).toEqual([[['store_closed']], []]);
    await step();
    expect(stopped).toHaveBeenCalledTimes(1);
    expect([left(), asked]).toEqual([[100, 100], []]);
  });

  it('does not move digests when it came with the last delivery', async () => {
    const { left, step, move, asked } = begin(1, 5);
    await step();
    const stopped = move.stop();
    await step();
    await stopped;
    expect([left(), asked]).toEqual([[0, 5], []]);
  });

  it('does not wait for the next try after a failure', async () => {
    const { fail, move, asked } = begin(1);
    await fail(new Error('busy'));
    await move.stop();
    expect([asked, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('leaves the rest to a process that opens the file later', async () => {
    const { database, moves, move, step, left } = begin(300);
    const stopped = move.stop();
    await step();
    await stopped;
    moves.prepare(database);
    const write = async <Result>(work: () => Result) => work();
    await moves.start(database, write)?.whenListed();
    await nextTurn();
    expect(left()).toEqual([0, 0]);
  });

  it('changes nothing of what is listed once all is moved', async () => {
    const { step, move, listed } = begin(0);
    for (let steps = 0; steps < 2; steps++) await step();
    await move.stop();
    await expect(move.whenListed()).resolves.toBeUndefined();
    expect(listed.mock.calls).toEqual([[undefined]]);
  });
});

describe('the tables of an earlier version', () => {
  const options = { prefix: 'inbox/', rememberMs: 1_000, now: () => now };

  it('are none in a file of this version', () => {
    const database = new DatabaseSync(':memory:');
    onTestFinished(() => database.close());
    database.exec(recordTable);
    const moves = formerTables(options);
    moves.prepare(database);
    expect(moves.start(database, () => expect.unreachable())).toBeUndefined();
    const names = database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'view' OR name GLOB '*inbox*'",
    );
    expect(names.all()).toEqual([]);
  });

  it('stay as they were if they cannot be renamed', () => {
    const { database } = tables(2, 0);
    database.exec('CREATE TABLE partner_inbox_moving_seen (digest BLOB)');
    expect(() => formerTables(options).prepare(database)).toThrow(/already another table/);
    expect(database.isTransaction).toBe(false);
    const count = database.prepare('SELECT count(*) AS rows FROM partner_inbox_delivery');
    expect(count.get()).toEqual({ rows: 2 });
  });
});
