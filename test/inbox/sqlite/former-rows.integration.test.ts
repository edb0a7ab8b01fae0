import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { eventually } from '../contract.ts';
import { formerInbox } from './former-inbox.ts';

const day = 86_400_000;
const now = Date.UTC(2025, 0, 1);
const receivedAt = now - 60_000;
const digestOf = (digit: string) => digit.repeat(64);

/** A file of an earlier version, with a row for each digit, opened by this version. */
function open({
  deliveries = {},
  seen = {},
}: {
  deliveries?: Record<string, object>;
  seen?: Record<string, number>;
}) {
  const path = join(scratchFolder(), 'inbox.sqlite');
  formerInbox(path).close();
  const database = new DatabaseSync(path);
  const waiting = {
    name: 'event.buy.init',
    matched_key: '{"index":0}',
    body: '{}',
    received_at: receivedAt,
    due_at: receivedAt,
    attempts: 0,
    reason: '',
    state: 'waiting',
    alone: 0,
  };
  for (const [digit, members] of Object.entries(deliveries)) {
    const values = Object.values({ ...waiting, ...members });
    const marks = values.map(() => '?').join(', ');
    database
      .prepare(`INSERT INTO partner_inbox_delivery VALUES (?, ${marks})`)
      .run(Buffer.from(digestOf(digit), 'hex'), ...values);
    database
      .prepare('INSERT INTO partner_inbox_seen VALUES (?, ?)')
      .run(Buffer.from(digestOf(digit), 'hex'), now);
  }
  for (const [digit, at] of Object.entries(seen))
    database
      .prepare('INSERT INTO partner_inbox_seen VALUES (?, ?)')
      .run(Buffer.from(digestOf(digit), 'hex'), at);
  const inbox = sqliteInbox({ path, role: 'receiver', now: () => now });
  onTestFinished(async () => {
    await inbox.stop();
    database.close();
  });
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  const moved = () =>
    eventually(() =>
      expect([count('partner_inbox_moving_delivery'), count('partner_inbox_moving_seen')]).toEqual([0, 0]),
    );
  const recordOf = (digit: string) => {
    const found = database.prepare('SELECT * FROM partner_records WHERE key = ?');
    const [, value, expiresAt] = Object.values(found.get(`inbox/delivery/${digestOf(digit)}`) ?? {});
    return value === undefined ? undefined : { ...JSON.parse(String(value)), expiresAt };
  };
  const story = async (digit: string) => (await inbox.stories?.(digestOf(digit)))?.[0];
  return { inbox, moved, recordOf, story };
}

it('a stop in the middle of the move rejects nothing that nobody awaits', async () => {
  const { inbox } = open({ deliveries: { a: {} } });
  expect(await inbox.stop()).toBe('drained');
});

describe('a delivery of an earlier version', () => {
  it.each<[string, object, object]>([
    ['that waits', {}, { state: 'waiting', attempts: 0, isAlone: false, dueAt: new Date(receivedAt) }],
    [
      'that failed',
      { due_at: now + 5_000, attempts: 2, reason: 'Error: no' },
      { state: 'waiting', attempts: 2, reason: 'Error: no', dueAt: new Date(now + 5_000) },
    ],
    [
      'that has to be tried alone',
      { alone: 1 },
      { state: 'waiting', isAlone: true, dueAt: new Date(receivedAt) },
    ],
    [
      'that its process still holds',
      { state: 'leased', attempts: 1, due_at: now + 9_000 },
      { state: 'held', attempts: 1, isAlone: false, dueAt: new Date(now + 9_000) },
    ],
    ['that is dead', { state: 'dead', attempts: 8, reason: 'Error: no' }, { state: 'dead', attempts: 8 }],
    ['that is due as late as can be', { due_at: now + 660_000 }, { dueAt: new Date(now + 660_000) }],
    ['that waits since the clock went back', { due_at: now + 660_001 }, { dueAt: new Date(now) }],
    [
      'with a body beyond the length of a record',
      { body: 'x'.repeat(1_000_000) },
      { state: 'dead', reason: 'Error: The body is longer than a record may be.' },
    ],
  ])('%s is the same in its record', async (_, row, expected) => {
    const { inbox, moved, story } = open({ deliveries: { a: row } });
    await moved();
    const common = {
      digest: digestOf('a'),
      name: 'event.buy.init',
      receivedAt: new Date(receivedAt),
      steps: [],
    };
    expect(await story('a')).toMatchObject({ ...common, ...expected });
    const isDead = Object(expected).state === 'dead';
    expect(await inbox.counts()).toEqual({ open: isDead ? 0 : 1, dead: isDead ? 1 : 0 });
    expect((await inbox.health()).oldestAgeMs).toBe(isDead ? null : 60_000);
  });

  it('lies in the index of its state, and a dead one where it was received', async () => {
    const { moved, recordOf } = open({
      deliveries: {
        a: {},
        b: { alone: 1 },
        c: { state: 'leased', due_at: now },
        d: { state: 'dead', due_at: now },
        e: { state: 'leased', due_at: now, body: 'x'.repeat(1_000_000) },
      },
    });
    await moved();
    const indexOf = (digit: string) => recordOf(digit)?.index.replace(/^inbox\/(\w+)\/0*(\d+)\/.*$/, '$1 $2');
    expect([...'abcde'].map(indexOf)).toEqual([
      `due ${receivedAt}`,
      `alone ${receivedAt}`,
      `alone ${now}`,
      `dead ${receivedAt}`,
      `dead ${receivedAt}`,
    ]);
    expect(recordOf('c')).toHaveProperty('lease');
    expect(recordOf('e')).not.toHaveProperty('lease');
  });

  it('keeps its body, its key and its trace', async () => {
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    const matched_key = JSON.stringify({ index: 3, owner: 'shop', traceparent });
    const { moved, recordOf } = open({ deliveries: { a: { body: '{"of":"A"}', matched_key }, b: {} } });
    await moved();
    expect(recordOf('a')).toMatchObject({
      body: '{"of":"A"}',
      key: { index: 3, owner: 'shop' },
      traceparent,
    });
    expect(recordOf('b')).not.toHaveProperty('traceparent');
    expect(recordOf('b')).toMatchObject({ key: { index: 0 }, expiresAt: null });
  });
});

it('digests of an earlier version are remembered as long as they were, and no longer than by a clock that is right', async () => {
  const seen = { c: now - day, d: now + 10 * day, e: now - 30 * day, f: now - 30 * day + 1 };
  const { moved, recordOf } = open({ seen });
  await moved();
  const expiries = ['c', 'd', 'e', 'f'].map((digit) => recordOf(digit)?.expiresAt);
  expect(expiries).toEqual([now + 29 * day, now + 30 * day, undefined, now + 1]);
  expect(recordOf('c')).toMatchObject({ handled: true });
});
