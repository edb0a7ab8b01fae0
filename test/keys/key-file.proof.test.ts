import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import paths, { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ProcessIdentity, processState, thisProcess } from '../../src/internal/process-identity.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { type FileSystem, tryLock } from '../../src/keys/file-lock.ts';
import { keyFile, keyFileIn } from '../../src/keys/key-file.ts';
import { generation } from '../credentials/keys.ts';
import { rejected, thrownBy } from '../support/refusal.ts';
import { scratchFolder } from '../support/scratch.ts';
import { watchedFileSystem } from './watched-file-system.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = scratchFolder();
  path = join(folder, 'keys.json');
});

const set = (text: string) => keyFile({ path }).update(() => text);
/** The key file over another file system. */
const keyFileOver = (system: FileSystem, process: Partial<ProcessIdentity> = {}) =>
  keyFileIn({ path }, { fs: system, paths, self: { ...self, ...process }, now: Date.now });
/** The file system, with something that happens once, before the first of these steps on a path with this end. */
const interrupted = (before: string, end: RegExp, happens: (target: string) => void): FileSystem => {
  let isOver = false;
  return watchedFileSystem({
    before(name, [target]) {
      if (isOver || name !== before || !end.test(String(target))) return;
      isOver = true;
      happens(String(target));
    },
  });
};
const failsWith = (error: Error) => () => {
  throw error;
};
const ioError = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
const isPosix = process.platform !== 'win32';
const isRoot = process.geteuid?.() === 0;

const self = thisProcess();
const dead = { token: 'dead', ...self, pid: 2 ** 22 + 1 };

/** Leaves a lock with this text beside the key file. */
function leave(text: string, ageMs = 0): void {
  writeFileSync(`${path}.lock`, text, { mode: 0o600 });
  const at = (Date.now() - ageMs) / 1000;
  utimesSync(`${path}.lock`, at, at);
}

/** Runs `key-file-child.ts`; the signal that ended it, or its exit code. */
async function runChild(...given: string[]): Promise<string | number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'key-file-child.ts'), ...given], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

describe('a key file', () => {
  it('is nothing until something is stored, and then what was stored last', async () => {
    const storage = keyFile({ path });
    expect(await storage.read()).toBeUndefined();
    await set('one');
    await storage.update((text) => `${text}, two`);
    expect(await storage.read()).toBe('one, two');
    await storage.update(() => undefined);
    expect(readFileSync(path, 'utf8')).toBe('one, two');
  });

  it.runIf(isPosix)('has mode 0600, whatever the umask, and leaves nothing beside it', async () => {
    const umask = process.umask(0);
    try {
      await set('one');
      await set('two');
    } finally {
      process.umask(umask);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['keys.json']);
  });

  it.runIf(isPosix).each([0o640, 0o604, 0o620, 0o666])(
    'is refused with mode %o, also for writing',
    async (mode) => {
      await set('one');
      chmodSync(path, mode);
      const storage = keyFile({ path });
      const words = `Other users may read the key file ${path}. Set its mode to 0600, and consider its keys known.`;
      for (const step of [storage.read(), set('two')]) {
        expect(await rejected(step)).toMatchObject({
          code: 'key_storage_exposed',
          message: expect.stringContaining(words),
        });
      }
      chmodSync(path, 0o600);
      expect(await storage.read()).toBe('one');
    },
  );

  it('is never left half written: it is written beside, synced, renamed, and the folder synced', async () => {
    const steps: string[] = [];
    const watched = watchedFileSystem({
      before(name, [target]) {
        const file = typeof target === 'string' ? target.slice(folder.length) : '';
        if (!/realpath|stat|read/.test(name)) {
          steps.push(`${name} ${file.replace(/[\da-f-]{36}/, '*')}`.trimEnd());
        }
      },
    });
    await keyFileOver(watched).update(() => 'one');
    const writing = steps.slice(
      steps.indexOf('openSync /keys.json.*.tmp'),
      steps.indexOf('rmSync /keys.json.lock'),
    );
    expect(writing).toEqual([
      'openSync /keys.json.*.tmp',
      'writeFileSync',
      'fsyncSync',
      'closeSync',
      // Does it still hold the lock?
      'openSync /keys.json.lock',
      'closeSync',
      'renameSync /keys.json.*.tmp',
      'openSync',
      'fsyncSync',
      'closeSync',
      'openSync /keys.json.lock',
      'closeSync',
    ]);
  });

  it('keeps the old keys, and leaves nothing beside them, when the new ones cannot be synced', async () => {
    await set('one');
    const failing = interrupted('fsyncSync', /./, failsWith(ioError));
    expect(await rejected(keyFileOver(failing).update(() => 'two'))).toMatchObject({
      code: 'key_storage_failed',
      message: expect.stringContaining(`The key file ${path} cannot be used (EIO).`),
    });
    expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['one', ['keys.json']]);
  });

  it('that cannot be opened is an error, not a file without keys', async () => {
    await set('one');
    const failing = interrupted('openSync', /keys\.json$/, failsWith(ioError));
    expect(await rejected(keyFileOver(failing).read())).toMatchObject({ code: 'key_storage_failed' });
  });

  it('says so when an error of the file system has no code', async () => {
    const failing = interrupted('lstatSync', /./, failsWith(new Error('odd')));
    expect(String(await rejected(keyFileOver(failing).read()))).toContain(
      `The key file ${path} cannot be used (unknown error).`,
    );
  });

  it('leaves no file open after it was read and replaced', async () => {
    let open = 0;
    const counted = watchedFileSystem({
      after(name) {
        if (name === 'openSync') open += 1;
        if (name === 'closeSync') open -= 1;
      },
    });
    const storage = keyFileOver(counted);
    await storage.update(() => 'one');
    expect([await storage.read(), open]).toEqual(['one', 0]);
  });

  it.runIf(isPosix)('that others can read by the time it is opened is refused', async () => {
    await set('one');
    const exposed = interrupted('openSync', /keys\.json$/, () => chmodSync(path, 0o644));
    expect(await rejected(keyFileOver(exposed).read())).toMatchObject({ code: 'key_storage_exposed' });
  });

  it.runIf(isPosix)('that is a FIFO is refused before it is opened or locked', async () => {
    spawnSync('mkfifo', [path]);
    const steps: string[] = [];
    const storage = keyFileOver(watchedFileSystem({ before: (name) => steps.push(name) }));
    for (const step of [storage.read(), storage.update(() => 'one')]) {
      expect(await rejected(step)).toMatchObject({ code: 'key_storage_failed' });
    }
    expect(steps.filter((name) => /open|write/.test(name))).toEqual([]);
  });

  it('that another process keeps locked is an error in the end, which names the lock', async () => {
    leave(JSON.stringify({ ...dead, pid: process.pid }));
    const storage = keyFileIn({ path }, { fs, paths, self, now: Date.now, waitMs: 50 });
    expect(await rejected(storage.update(() => 'one'))).toMatchObject({
      code: 'key_storage_locked',
      message: expect.stringContaining(
        `Another process keeps the key file ${path} locked. Try again, and if it is in use nowhere, delete `,
      ),
    });
  });

  it.runIf(isPosix)('behind a symbolic link stays behind it', async () => {
    mkdirSync(join(folder, 'real'));
    writeFileSync(join(folder, 'real', 'keys.json'), 'one', { mode: 0o600 });
    symlinkSync(join(folder, 'real', 'keys.json'), path);
    await set('two');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real', 'keys.json'), 'utf8')).toBe('two');
  });

  it.runIf(isPosix)('is made where a symbolic link leads, if it is not there yet', async () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join('real', 'keys.json'), path);
    expect(await keyFile({ path }).read()).toBeUndefined();
    await set('one');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real', 'keys.json'), 'utf8')).toBe('one');
    expect(readdirSync(folder)).toEqual(['keys.json', 'real']);
  });

  it('stays the same file when the program goes to another folder', async () => {
    const before = process.cwd();
    try {
      process.chdir(folder);
      const storage = keyFile({ path: 'keys.json' });
      process.chdir(before);
      await storage.update(() => 'one');
    } finally {
      process.chdir(before);
    }
    expect(readFileSync(path, 'utf8')).toBe('one');
  });

  it('whose folder is missing, or that is a folder, is a clear error', async () => {
    const missing = keyFile({ path: join(folder, 'no', 'keys.json') });
    expect(await missing.read()).toBeUndefined();
    expect(await rejected(missing.update(() => 'one'))).toMatchObject({
      code: 'key_storage_failed',
      message: expect.stringContaining('ENOENT'),
    });
    mkdirSync(path);
    expect(await rejected(keyFile({ path }).read())).toMatchObject({
      name: 'KeyError',
      message: expect.stringContaining(`${path} is a folder, not a file. Name the key file.`),
    });
    expect(await rejected(set('one'))).toMatchObject({ name: 'KeyError' });
  });

  it('says without being read whether it has changed, however it was changed', async () => {
    const storage = keyFile({ path });
    const seen = new Set([storage.version?.()]);
    const changes: (() => unknown)[] = [
      () => set('one'),
      () => set('two'),
      () => writeFileSync(path, 'six'),
      () => utimesSync(path, 5, 5),
    ];
    for (const change of changes) {
      await change();
      seen.add(storage.version?.());
      expect(storage.version?.()).toBe([...seen].at(-1));
    }
    expect(seen.size).toBe(1 + changes.length);
  });

  it.runIf(isPosix)(
    'that is a FIFO or a device is a clear error at once, and so is a FIFO for a lock',
    async () => {
      spawnSync('mkfifo', [path]);
      const both = [
        () => keyFile({ path }).read(),
        () => set('one'),
        () => keyFile({ path: '/dev/zero' }).read(),
      ];
      for (const step of both) {
        expect(await rejected(step())).toMatchObject({
          code: 'key_storage_failed',
          message: expect.stringMatching(/is a (FIFO|device).*not a file/),
        });
      }
      expect(readdirSync(folder)).toEqual(['keys.json']);
      rmSync(path);
      spawnSync('mkfifo', [`${path}.lock`]);
      expect(await rejected(set('one'))).toMatchObject({
        code: 'key_storage_failed',
        message: expect.stringContaining('not a file, and stands for a lock. Delete it.'),
      });
    },
  );

  it.runIf(isRoot)('of another user is refused before anything is changed, also behind a link', async () => {
    const theirs = join(folder, 'theirs.json');
    writeFileSync(theirs, 'one', { mode: 0o644 });
    chownSync(theirs, 1234, 1234);
    symlinkSync(theirs, path);
    const before = lstatSync(theirs);
    for (const mode of [0o644, 0o600]) {
      chmodSync(theirs, mode);
      for (const storage of [keyFile({ path }), keyFile({ path: theirs })]) {
        for (const step of [storage.read(), storage.update(() => 'two')]) {
          expect(await rejected(step)).toMatchObject({
            code: 'key_storage_exposed',
            message: expect.stringContaining(
              `The key file ${theirs} belongs to another user. Run the program as that user, or name a file of your own.`,
            ),
          });
        }
      }
      const { ino, uid, mode: left, mtimeMs } = lstatSync(theirs);
      expect([ino, uid, left & 0o777, mtimeMs]).toEqual([before.ino, 1234, mode, before.mtimeMs]);
    }
    expect(readdirSync(folder).sort()).toEqual(['keys.json', 'theirs.json']);
    expect(readFileSync(theirs, 'utf8')).toBe('one');
  });

  it.runIf(isRoot)('is not made where a link of another user leads, nor read there', async () => {
    symlinkSync(join(folder, 'elsewhere.json'), path);
    lchownSync(path, 1234, 1234);
    expect(await rejected(set('one'))).toMatchObject({
      code: 'key_storage_exposed',
      message: expect.stringContaining(
        `The symbolic link ${path} belongs to another user. Name the key file itself.`,
      ),
    });
    writeFileSync(join(folder, 'elsewhere.json'), 'mine', { mode: 0o600 });
    expect(await rejected(keyFile({ path }).read())).toMatchObject({ code: 'key_storage_exposed' });
    expect(readdirSync(folder).sort()).toEqual(['elsewhere.json', 'keys.json']);
  });

  it.runIf(isPosix)('behind links that lead in a circle is a clear error', async () => {
    symlinkSync(path, `${path}.2`);
    symlinkSync(`${path}.2`, path);
    expect(await rejected(keyFile({ path }).read())).toMatchObject({
      code: 'key_storage_failed',
      message: expect.stringMatching(/The symbolic links at .*keys\.json.* lead in a circle\./),
    });
  });

  it.runIf(process.platform === 'linux')('is found behind as many links as Linux follows', async () => {
    const chain = Array.from({ length: 42 }, (_, index) => join(folder, `link-${index}`));
    writeFileSync(join(folder, 'link-0'), 'one', { mode: 0o600 });
    for (const [index, link] of chain.entries()) if (index > 0) symlinkSync(`link-${index - 1}`, link);
    const found = (links: number) => keyFile({ path: join(folder, `link-${links}`) });
    expect([await found(40).read(), readFileSync(join(folder, 'link-40'), 'utf8')]).toEqual(['one', 'one']);
    expect(await rejected(found(41).read())).toMatchObject({ code: 'key_storage_failed' });
    expect(thrownBy(() => readFileSync(join(folder, 'link-41')))).toMatchObject({ code: 'ELOOP' });
  });

  it('of more than a mebibyte is refused', async () => {
    writeFileSync(path, 'x'.repeat(1_048_576), { mode: 0o600 });
    expect(await keyFile({ path }).read()).toHaveLength(1_048_576);
    writeFileSync(path, 'x'.repeat(1_048_577));
    expect(await rejected(keyFile({ path }).read())).toMatchObject({
      code: 'key_storage_invalid',
      message: expect.stringContaining(`${path} is too large for a key file. Name the key file.`),
    });
  });

  it('stays as it was, unlocked, when the change throws', async () => {
    await set('one');
    const error = Object.assign(new Error('no'), { code: 'E_OF_THE_CALLER' });
    const throws = () => {
      throw error;
    };
    expect(await rejected(keyFile({ path }).update(throws))).toBe(error);
    expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['one', ['keys.json']]);
  });

  it('loses no change of many at once in one process', async () => {
    const storage = keyFile({ path });
    await Promise.all(
      Array.from({ length: 30 }, () => storage.update((text) => String(Number(text ?? 0) + 1))),
    );
    expect(await storage.read()).toBe('30');
  });
});

describe('a lock that was left behind', () => {
  it.each<[string, string, number]>([
    ['by a process that has died', JSON.stringify(dead), 0],
    ['by a process of another machine, long ago', JSON.stringify({ ...dead, space: 'elsewhere' }), 31_000],
    [
      'with the number of a process that runs, long ago',
      JSON.stringify({ ...dead, pid: process.pid, startedAt: undefined }),
      31_000,
    ],
    ['before its holder was written into it, long ago', '', 31_000],
    ['with a token that is a path, long ago', JSON.stringify({ ...dead, token: '../../x' }), 31_000],
    ['with a token that goes on as a path, long ago', JSON.stringify({ ...dead, token: 'x/../y' }), 31_000],
  ])('%s is removed', async (_, text, ageMs) => {
    leave(text, ageMs);
    await set('one');
    expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['one', ['keys.json']]);
  });

  it.each<[string, object]>([
    ['that runs', { ...dead, pid: process.pid }],
    ['of another machine', { ...dead, space: 'elsewhere' }],
    ['with a number that is none here, of another container', { ...dead, space: `${self.space}1` }],
    ['whose token is not text', { ...dead, token: 5 }],
    ['whose number is text', { ...dead, pid: String(dead.pid) }],
    ['whose number is negative', { ...dead, pid: -dead.pid }],
    ['that runs, and whose start is not text', { ...self, token: 'left', startedAt: 5 }],
  ])('a moment ago by a process %s is waited for', async (_, holder) => {
    leave(JSON.stringify(holder));
    let isDone = false;
    const update = set('one').then(() => {
      isDone = true;
    });
    // real time: nothing may happen meanwhile; a busy machine lets less happen.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isDone).toBe(false);
    rmSync(`${path}.lock`);
    await update;
    expect(await keyFile({ path }).read()).toBe('one');
  });

  it.runIf(self.startedAt)('is not taken over from another process that runs, however old it is', () => {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    leave(JSON.stringify({ ...self, pid: process.ppid, startedAt, token: 'stopped' }), 3_600_000);
    expect([lockWith(fs), lockWith(fs)]).toEqual([undefined, undefined]);
    expect(readFileSync(`${path}.lock`, 'utf8')).toContain('stopped');
  });

  it.runIf(self.startedAt)(
    'is taken over from this process, which could not remove it, once it is old',
    () => {
      leave(JSON.stringify({ ...self, token: 'left' }), 20_000);
      expect([lockWith(fs), lockWith(fs)]).toEqual([undefined, undefined]);
      leave(JSON.stringify({ ...self, token: 'left' }), 40_000);
      expect(lockWith(fs)).toBeUndefined();
      expect(lockWith(fs)?.isHeld()).toBe(true);
    },
  );

  it.runIf(self.startedAt)('is taken over at once when its process ID belongs to a later process', () => {
    leave(JSON.stringify({ ...self, token: 'before', startedAt: '1' }));
    expect(lockWith(fs)).toBeUndefined();
    expect(lockWith(fs)?.isHeld()).toBe(true);
  });

  const unshare = ['--pid', '--fork', '--mount-proc', process.execPath, '--input-type=module', '--eval'];
  const inNamespace = (code: string) => spawnSync('unshare', [...unshare, code], { encoding: 'utf8' });
  it.runIf(inNamespace('').status === 0)('tells containers of one host name and one process ID apart', () => {
    const module = pathToFileURL(join(import.meta.dirname, '../../src/internal/process-identity.ts')).href;
    const code = `console.log(JSON.stringify((await import(${JSON.stringify(module)})).thisProcess()))`;
    const other: ProcessIdentity = JSON.parse(inNamespace(code).stdout);
    expect(other.pid).toBe(1);
    // Process 1 runs here as well, and is another one.
    expect(processState(other, self)).toBe('unknown');
    expect(processState({ ...other, space: self.space }, self)).toBe('ended');
  });

  const lockWith = (system: FileSystem) => tryLock(`${path}.lock`, { fs: system, self, now: Date.now });

  it('is left alone when another process has removed it first, and holds a new one', () => {
    leave(JSON.stringify(dead));
    const fresh = JSON.stringify({ ...dead, token: 'fresh', pid: process.pid });
    const late = interrupted('writeFileSync', /\.lock\.dead$/, () => leave(fresh));
    expect(lockWith(late)).toBeUndefined();
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(fresh);
  });

  it('is left alone when another one took its place, and neither says who holds it', () => {
    leave('', 40_000);
    const late = interrupted('writeFileSync', /\.lock\../, () => leave(''));
    expect([lockWith(late), lockWith(fs)]).toEqual([undefined, undefined]);
    expect(readdirSync(folder)).toEqual(['keys.json.lock']);
  });

  it.each([
    ['looks for its holder', 'openSync', /\.lock$/],
    ['may remove it', 'writeFileSync', /\.lock\.dead$/],
    ['removes it', 'rmSync', /\.lock$/],
  ])('can be taken when another process removed it just before this one %s', (_, step, end) => {
    leave(JSON.stringify(dead));
    expect(lockWith(interrupted(step, end, () => rmSync(`${path}.lock`)))).toBeUndefined();
    expect(lockWith(fs)?.isHeld()).toBe(true);
  });

  it('is released without an error when another process removed it just before', () => {
    const lock = lockWith(interrupted('rmSync', /\.lock$/, (target) => rmSync(target)));
    lock?.release();
    expect([lock?.isHeld(), readdirSync(folder)]).toEqual([false, []]);
  });

  it.runIf(isPosix)('and is a symbolic link is an error, and is not followed', () => {
    symlinkSync('elsewhere', `${path}.lock`);
    expect(thrownBy(() => lockWith(fs))).toMatchObject({ code: 'ELOOP' });
  });

  it('is removed by one process only', () => {
    leave(JSON.stringify(dead));
    const others: unknown[] = [];
    const first = interrupted('rmSync', /\.lock$/, () => others.push(lockWith(fs), lockWith(fs)));
    expect(lockWith(first)).toBeUndefined();
    expect(others).toEqual([undefined, undefined]);
    expect(lockWith(fs)?.isHeld()).toBe(true);
  });

  it('is removed once, and no newer lock with it, when several processes find it: they lose no change', async () => {
    leave(JSON.stringify(dead));
    const ends = await Promise.all(Array.from({ length: 4 }, () => runChild(path, 'count', '25')));
    expect(ends).toEqual([0, 0, 0, 0]);
    expect(await keyFile({ path }).read()).toBe('100');
    expect(readdirSync(folder)).toEqual(['keys.json']);
  }, 60_000);

  it('is left alone by a holder that lost it', () => {
    const lost = lockWith(fs);
    const theirs = JSON.stringify({ ...dead, token: 'theirs', pid: process.pid });
    leave(theirs);
    lost?.release();
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(theirs);
  });

  it('is not believed by its holder when another one took it over', async () => {
    // As if this process had been stopped just before it would rename: its lock is gone, and others have written.
    let isTaken = false;
    const stopped = watchedFileSystem({
      after(name, [target]) {
        if (name !== 'writeFileSync' || typeof target !== 'number' || isTaken) return;
        isTaken = true;
        rmSync(`${path}.lock`);
        writeFileSync(path, 'theirs', { mode: 0o600 });
      },
    });
    await keyFileOver(stopped).update((text) => `${text ?? 'nothing'} and mine`);
    expect(await keyFile({ path }).read()).toBe('theirs and mine');
  });
});

describe('two processes that both believe to hold the lock', () => {
  it.each(['writeFileSync', 'fsyncSync', 'renameSync'])(
    'do not mix what they write, nor lose a change, when the first was stopped before its %s',
    async (stoppedAt) => {
      await set('0');
      const count = (text: string | undefined) => String(Number(text) + 1);
      let second: Promise<void> | undefined;
      // As if its lock had been taken over while it was stopped.
      const stopped = watchedFileSystem({
        before(name, [target]) {
          const isLock = typeof target === 'string' && target.endsWith('.lock');
          if (name !== stoppedAt || isLock || second !== undefined) return;
          rmSync(`${path}.lock`);
          // Runs to its end before it returns.
          second = keyFile({ path }).update(count);
        },
      });
      await keyFileOver(stopped).update(count);
      await second;
      expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['2', ['keys.json']]);
    },
  );

  it('leave nothing of a crash behind, and touch no file of another name', async () => {
    const left = `keys.json.${crypto.randomUUID()}.tmp`;
    // The name is as long as that of the key file.
    const sibling = `kept.json.${crypto.randomUUID()}.tmp`;
    for (const file of [left, 'keys.json.mine.tmp', 'other.json.tmp', sibling]) {
      writeFileSync(join(folder, file), 'x');
    }
    await set('one');
    expect(readdirSync(folder).sort()).toEqual([
      sibling,
      'keys.json',
      'keys.json.mine.tmp',
      'other.json.tmp',
    ]);
  });

  it('may both remove it', async () => {
    writeFileSync(`${path}.${crypto.randomUUID()}.tmp`, 'x');
    await keyFileOver(interrupted('rmSync', /\.tmp$/, (target) => rmSync(target))).update(() => 'one');
    expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['one', ['keys.json']]);
  });
});

describe('a key file survives kill -9 before any of its steps', () => {
  /** Old or new keys are left, the step can be repeated, and no lock that nobody holds. @returns the keys found */
  async function checkAfter(step: number): Promise<string> {
    const rotation = createKeyRotation({ storage: keyFile({ path }) });
    const { verifying } = await rotation.credentials();
    const names = verifying.map(({ partnerPublicKey }) => partnerPublicKey.slice('pk_partner_'.length));
    await rotation.receive(generation(2));
    await rotation.promote();
    expect((await rotation.credentials()).signing.partnerPublicKey).toBe('pk_partner_2');
    const left = readdirSync(folder).filter((file) => !isRightToRemove(file));
    expect(left, `after step ${step}`).toEqual(['keys.json']);
    return names.join();
  }

  async function begin() {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    await createKeyRotation({ storage: keyFile({ path }) }).receive(generation(1));
  }

  it.each([
    ['that nobody holds', () => {}],
    ['whose lock a dead process has left', () => leave(JSON.stringify(dead))],
  ])('%s: old or new keys, and the next process goes on', async (_, prepare) => {
    const found = new Set<string>();
    let steps = 0;
    for (let isOver = false; !isOver; ) {
      await begin();
      prepare();
      // As a process that has died, which does nothing more: not even what stands in a `finally`.
      let left = steps;
      const gone = watchedFileSystem({
        before() {
          if (left-- <= 0) throw new Error('This process is gone.');
        },
      });
      const storage = keyFileOver(gone, { pid: dead.pid });
      const dying = createKeyRotation({ storage }).receive(generation(2));
      isOver = await dying.then(
        () => true,
        () => false,
      );
      found.add(await checkAfter(steps));
      if (!isOver) steps += 1;
    }
    expect(found).toEqual(new Set(['1', '1,2']));
    expect(steps).toBeGreaterThan(20);
  });

  it('also when it is a real one', async () => {
    await begin();
    const names: string[] = [];
    const watched = watchedFileSystem({ before: (name) => names.push(name) });
    await createKeyRotation({ storage: keyFileOver(watched) }).receive(generation(2));
    const renaming = names.indexOf('renameSync');
    for (const [step, keys] of [
      [renaming, '1'],
      [renaming + 1, '1,2'],
    ] as const) {
      await begin();
      expect(await runChild(path, 'receive', String(step))).toBe('SIGKILL');
      expect(await checkAfter(step)).toBe(keys);
    }
  });
});

/** The second crash in a row may leave it. It holds no key, and stands in nobody's way. */
function isRightToRemove(file: string): boolean {
  return file.startsWith('keys.json.lock.');
}

it.each([undefined, '', 5])('keyFile refuses the path %s', (given) => {
  const options = { path: given } as unknown as { path: string };
  expect(thrownBy(() => keyFile(options))).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('path must be text.'),
  });
});
