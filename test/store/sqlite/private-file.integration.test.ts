import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { openPrivateFile } from '../../../src/store/sqlite/private-file.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { scratchFolder } from '../../support/scratch.ts';

const otherUser = 12_345;
const isRoot = process.getuid?.() === 0;
const suffixes = ['', '-wal', '-shm', '-journal'];

let folder = '';
let path = '';

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'data.sqlite');
});

function open(): void {
  openPrivateFile(path, (message, options) => new Error(message, options));
}

const modeOf = (file: string) => statSync(file).mode & 0o777;

function writeOpen(file: string): string {
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  return file;
}

describe.skipIf(process.platform === 'win32')('a database file', () => {
  it.each(['-wal', '-shm', '-journal'])('is refused, and stays as it is, if its %s is a link', (suffix) => {
    writeOpen(path);
    const target = writeOpen(join(folder, 'victim'));
    symlinkSync(target, path + suffix);
    expect(open).toThrow(`"${suffix}" is not that of a file`);
    expect([modeOf(path), modeOf(target)]).toEqual([0o644, 0o644]);
  });

  it('is refused if it is a FIFO, without waiting for a writer', () => {
    execFileSync('mkfifo', [path]);
    expect(open).toThrow('is not that of a file');
  });

  it('is refused, and stays as it is, if it has another name', () => {
    const target = writeOpen(join(folder, 'victim'));
    linkSync(target, path);
    expect(open).toThrow('several names');
    expect(modeOf(target)).toBe(0o644);
  });

  it('keeps the locks of a connection of this process when its mode is changed', () => {
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE t (v); BEGIN IMMEDIATE');
    chmodSync(path, 0o644);
    open();
    expect(modeOf(path)).toBe(0o600);
    const script = `
      const { DatabaseSync } = require('node:sqlite');
      try { new DatabaseSync(${JSON.stringify(path)}).exec('BEGIN IMMEDIATE'); console.log('locked by both'); }
      catch (error) { console.log(error.errcode); }`;
    const said = execFileSync(process.execPath, ['--no-warnings', '-e', script], { encoding: 'utf8' });
    expect(said.trim()).toBe('5');
    database.close();
  });

  it.each([
    ['that is no database', '', 'PRIVATE=1\n'],
    ['that is too short for one', '', 'S'],
    ['that is no database, beside a -wal that others can read', '-wal', ''],
  ])('keeps its mode behind a link of one’s own to a file %s', (_, suffix, content) => {
    const target = writeOpen(join(folder, 'notes.txt'));
    writeFileSync(target, 'notes that others may read');
    if (suffix !== '') {
      chmodSync(target, 0o600);
      writeOpen(target + suffix);
    } else writeFileSync(target, content);
    symlinkSync(target, path);
    const files = [target, target + suffix];
    const before = files.map(modeOf);
    expect(open).toThrow('no SQLite database');
    expect(() => sqliteStore({ path })).toThrow(expect.objectContaining({ code: 'store_failed' }));
    expect(() => sqliteInbox({ path })).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    expect(files.map(modeOf)).toEqual(before);
  });

  it('may be reached by a link of one’s own', () => {
    const target = writeOpen(join(folder, 'real'));
    symlinkSync(target, path);
    open();
    expect(modeOf(target)).toBe(0o600);
  });
});

describe(`a database file of another user${isRoot ? '' : ' (skipped: only root can make one)'}`, () => {
  it.skipIf(!isRoot).each(suffixes)('is refused, and nothing is changed: data.sqlite%s', (suffix) => {
    writeOpen(path);
    chownSync(writeOpen(path + suffix), otherUser, otherUser);
    expect(open).toThrow('of another user');
    expect(modeOf(path)).toBe(0o644);
    expect(statSync(path + suffix)).toMatchObject({ uid: otherUser });
    expect(modeOf(path + suffix)).toBe(0o644);
  });

  it.skipIf(!isRoot)('is refused behind a link of one’s own', () => {
    const target = writeOpen(join(folder, 'victim'));
    chownSync(target, otherUser, otherUser);
    symlinkSync(target, path);
    expect(open).toThrow('of another user');
    expect(modeOf(target)).toBe(0o644);
  });

  it.skipIf(!isRoot)('a link that another user has planted changes no file of ours', () => {
    const target = writeOpen(join(folder, 'victim'));
    symlinkSync(target, path);
    lchownSync(path, otherUser, otherUser);
    expect(open).toThrow('symbolic link of another user');
    expect(modeOf(target)).toBe(0o644);
  });

  it.skipIf(!isRoot)('is an error of the part that was to use it', async () => {
    writeOpen(path);
    chownSync(path, otherUser, otherUser);
    const message = expect.stringContaining('of another user');
    const storeError = expect.objectContaining({ name: 'StoreError', code: 'store_failed', message });
    expect(() => sqliteStore({ path })).toThrow(storeError);
    expect(() => sqliteInbox({ path })).toThrow(
      expect.objectContaining({ name: 'InboxError', code: 'store_unavailable', message }),
    );
    expect(modeOf(path)).toBe(0o644);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});
