import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { firstFlaw, openPrivateFile } from '../../../src/store/sqlite/private-file.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { thrownBy } from '../../support/refusal.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { set } from '../counted.ts';
import { stubFileSystem, stubProcess, systemError } from '../stubbed-process.ts';

const isRoot = process.getuid?.() === 0;
const refused = 'is not that of a file which only this user may read';
const suffixes = ['', '-wal', '-shm', '-journal'];

let folder = '';
let path = '';

beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'data.sqlite');
});

function open() {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close().catch(() => {}));
  return store;
}

/** A file of mode 0600, or another one. */
function write(file: string, mode = 0o600): string {
  writeFileSync(file, '');
  chmodSync(file, mode);
  return file;
}

/** The same bytes, in another file. */
function replaceByCopy(name: string): void {
  copyFileSync(name, `${name}.copy`);
  renameSync(`${name}.copy`, name);
}

describe.skipIf(process.platform === 'win32')('the database file of a store', () => {
  it('can be read by its owner only, and so can what SQLite keeps beside it, whatever the umask is', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    await set(open(), 'a', 1);
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
  });

  it.each(suffixes)('is refused if others can read it, and stays as it is: data.sqlite%s', (suffix) => {
    if (suffix !== '') write(path);
    write(path + suffix, 0o640);
    expect(open).toThrow(suffix === '' ? `database ${refused}` : `"${suffix}" ${refused}`);
    expect(statSync(path + suffix).mode & 0o777).toBe(0o640);
  });

  it.skipIf(!isRoot).each(suffixes)('is refused if it belongs to another user: data.sqlite%s', (suffix) => {
    if (suffix !== '') write(path);
    chownSync(write(path + suffix), 12_345, 12_345);
    expect(open).toThrow(refused);
  });

  it.each(suffixes)('is refused if it is a symbolic link: data.sqlite%s', (suffix) => {
    if (suffix !== '') write(path);
    symlinkSync(write(join(folder, 'victim')), path + suffix);
    expect(open).toThrow(refused);
  });

  it.each<[string, () => unknown]>([
    ['a folder', () => mkdirSync(path)],
    ['a FIFO, without waiting for a writer', () => execFileSync('mkfifo', [path])],
    ['a file with another name', () => linkSync(write(join(folder, 'victim')), path)],
  ])('is refused if it is %s', (_, make) => {
    make();
    expect(open).toThrow(refused);
  });

  it('is refused with an error of the part that was to use it', () => {
    write(path, 0o644);
    const message = expect.stringContaining(refused);
    expect(open).toThrow(expect.objectContaining({ name: 'StoreError', code: 'store_failed', message }));
    expect(() => sqliteInbox({ path })).toThrow(
      expect.objectContaining({ name: 'InboxError', code: 'store_unavailable', message }),
    );
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it.each([
    ['deleted', '', (name: string) => rmSync(name)],
    ['replaced by a copy of it', '', replaceByCopy],
    ['left without its -wal', '-wal', (name: string) => rmSync(name)],
    ['given another -wal', '-wal', replaceByCopy],
    ['left without its -shm', '-shm', (name: string) => rmSync(name)],
  ])('takes and tells nothing more once it was %s', async (_, suffix, meddle) => {
    const store = open();
    await set(store, 'a', 1);
    meddle(path + suffix);
    const error = { code: 'store_failed', message: expect.stringContaining('deleted or replaced') };
    await expect(set(store, 'a', 2)).rejects.toMatchObject(error);
    await expect(store.list({ prefix: '', limit: 1 })).rejects.toMatchObject(error);
  });
});

/** On a file system that makes no file, for this reason. */
function openWhereNothingIsMade(code: string) {
  const reason = systemError(code);
  const openSync = () => {
    throw reason;
  };
  stubFileSystem({ openSync });
  return { reason, open: () => openPrivateFile(path) };
}

describe('the file of a database', () => {
  it('is opened on a read-only file system if it is there', () => {
    write(path);
    const { open } = openWhereNothingIsMade('EROFS');
    expect(() => open().check()).not.toThrow();
  });

  it.each(['EROFS', 'EACCES'])('that cannot be made is refused with the reason of the system: %s', (code) => {
    if (code === 'EACCES') write(path);
    const { reason, open } = openWhereNothingIsMade(code);
    expect(thrownBy(open)).toBe(reason);
  });

  it('is refused with advice if its folder is missing', () => {
    const error = thrownBy(() => openPrivateFile(join(folder, 'missing', 'data.sqlite')));
    expect(error).toMatchObject({ code: 'store_failed', cause: { code: 'ENOENT' } });
    expect(String(error)).toContain('folder');
  });

  it('may get its -wal and -shm after it was opened, and then keeps them', () => {
    const file = openPrivateFile(path);
    for (const suffix of ['-wal', '-shm']) write(path + suffix);
    file.check();
    file.watchCompanions();
    file.check();
    replaceByCopy(`${path}-shm`);
    expect(file.check).toThrow('deleted or replaced');
  });
});

describe('the first flaw of a file', () => {
  const uid = 1_000;
  const all = ['not-a-file', 'foreign', 'hard-linked', 'exposed'] as const;
  type Parts = Partial<Omit<Stats, 'isFile'>> & { readonly isFile?: boolean };
  const flawOf = ({ isFile = true, ...stats }: Parts) =>
    // Sound: these are the parts of it that are looked at.
    firstFlaw({ uid, nlink: 1, mode: 0o100_600, ...stats, isFile: () => isFile } as Stats, all);

  it.each<[string | undefined, Parts]>([
    [undefined, {}],
    [undefined, { mode: 0o100_700 }],
    ['not-a-file', { isFile: false, uid: 0 }],
    ['foreign', { uid: 0, nlink: 2 }],
    ['hard-linked', { nlink: 2, mode: 0o100_644 }],
    ...[0o640, 0o620, 0o610, 0o604, 0o602, 0o601].map((mode): [string, Parts] => ['exposed', { mode }]),
  ])('is %s of %o', (flaw, stats) => {
    stubProcess({ platform: 'linux', geteuid: () => uid });
    expect(flawOf(stats)).toBe(flaw);
  });

  it('is only one of those that are asked for', () => {
    stubProcess({ platform: 'linux', geteuid: () => uid });
    const stats = { uid: 0, mode: 0o644, isFile: () => true } as Stats;
    expect(firstFlaw(stats, ['not-a-file', 'exposed'])).toBe('exposed');
  });

  it.each([
    ['Windows, which has no owners and modes', { platform: 'win32', geteuid: undefined }, 0o666],
    ['Deno without leave to ask who the user is', { geteuid: () => expect.fail('refused') }, 0o600],
  ])('is none on %s', (_, members, mode) => {
    stubProcess({ platform: 'linux', ...members });
    expect(flawOf({ uid: 0, mode })).toBeUndefined();
  });
});
