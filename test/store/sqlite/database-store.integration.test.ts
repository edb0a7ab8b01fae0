import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { userTransactionOf } from '../../../src/store/user-transaction.ts';
import { refusal } from '../../support/refusal.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { read, set } from '../counted.ts';

const at = 1_700_000_000_000;
let database: DatabaseSync;

/** A database with the table of the records, and a store over it. */
beforeEach(async () => {
  const path = join(scratchFolder(), 'records.sqlite');
  await sqliteStore({ path }).close();
  database = new DatabaseSync(path);
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
});

function open() {
  return sqliteStore({ database, now: () => at });
}

const keys = () =>
  database
    .prepare('SELECT key FROM partner_records ORDER BY key')
    .all()
    .map(({ key }) => key);

/** Has SQLite refuse the record "b", as it does when a disk is full, say. */
function refuseRecord(how: 'ABORT' | 'ROLLBACK'): void {
  database.exec(
    `CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.partner_records WHEN new.key = 'b' BEGIN SELECT RAISE(${how}, 'refused'); END`,
  );
}

const setBoth = () =>
  open().transact(['a', 'b'], (records) => {
    records.set('a', 1);
    records.set('b', 1);
  });

describe('a store over a database of the user', () => {
  it.each([
    ['null', null],
    ['a database of an earlier Node', { exec() {} }],
    ['another object', { isTransaction: true }],
  ])('refuses %s', (_, given) => {
    expect(refusal(() => sqliteStore({ database: given as never }))).toBe(
      'ConfigurationError invalid_option',
    );
  });

  it('refuses a path too, and neither', () => {
    for (const options of [{ database, path: 'records.sqlite' }, {}])
      expect(refusal(() => sqliteStore(options))).toBe('ConfigurationError invalid_option');
  });

  it('needs an open transaction', async () => {
    const error = { name: 'ConfigurationError', code: 'invalid_option' };
    await expect(set(open(), 'a', 1)).rejects.toMatchObject(error);
    await expect(open().list({ prefix: '', limit: 1 })).rejects.toMatchObject(error);
    expect(keys()).toEqual([]);
  });

  it.each([
    ['COMMIT', ['a']],
    ['ROLLBACK', []],
  ])('writes as part of the transaction: %s', async (end, expected) => {
    database.exec('BEGIN IMMEDIATE');
    const store = open();
    await set(store, 'a', 1);
    expect(await read(store, 'a')).toBe(1);
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([{ key: 'a', value: 1 }]);
    database.exec(end);
    expect(keys()).toEqual(expected);
  });

  it('passes over what has expired by its own clock', async () => {
    database.exec('BEGIN IMMEDIATE');
    const store = open();
    await set(store, 'past', 1, at);
    await set(store, 'future', 1, at + 1);
    expect(await store.list({ prefix: '', limit: 10 })).toMatchObject([{ key: 'future' }]);
    expect([await read(store, 'past'), await read(store, 'future')]).toEqual([undefined, 1]);
  });

  it('leaves nothing deleted in freed pages', async () => {
    database.exec('PRAGMA secure_delete = OFF; BEGIN IMMEDIATE');
    await set(open(), 'a', 1);
    expect(database.prepare('PRAGMA secure_delete').get()).toEqual({ secure_delete: 1 });
  });

  it('goes on with the transaction after a change that throws', async () => {
    database.exec('BEGIN IMMEDIATE');
    await set(open(), 'a', 1);
    const failure = new Error('no');
    const change = open().transact(['b'], () => {
      throw failure;
    });
    await expect(change).rejects.toBe(failure);
    expect(() => database.exec('RELEASE partner_exchange')).toThrow('no such savepoint');
    database.exec('COMMIT');
    expect(keys()).toEqual(['a']);
  });

  it('writes nothing of a change that SQLite refuses, and goes on with the transaction', async () => {
    refuseRecord('ABORT');
    database.exec('BEGIN IMMEDIATE');
    await set(open(), '0', 1);
    await expect(setBoth()).rejects.toMatchObject({ name: 'StoreError', code: 'store_failed' });
    expect(() => database.exec('RELEASE partner_exchange')).toThrow('no such savepoint');
    database.exec('COMMIT');
    expect(keys()).toEqual(['0']);
  });

  it('says why SQLite has ended the transaction', async () => {
    refuseRecord('ROLLBACK');
    database.exec('BEGIN IMMEDIATE');
    await expect(setBoth()).rejects.toMatchObject({ code: 'store_failed', cause: { message: 'refused' } });
    expect(database.isTransaction).toBe(false);
  });

  it('says that it cannot list', async () => {
    database.exec('DROP TABLE partner_records; BEGIN');
    await expect(open().list({ prefix: '', limit: 1 })).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('ends the transaction that nothing may be committed of, if it is still open', async () => {
    database.exec('BEGIN IMMEDIATE');
    const store = open();
    await set(store, 'a', 1);
    for (let times = 0; times < 2; times++) await userTransactionOf(store)?.fail();
    expect(database.isTransaction).toBe(false);
    expect(keys()).toEqual([]);
  });
});
