import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import paths, { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyRotation } from '../../src/rotation/create-key-rotation.ts';
import { type FileSystem, tryLock } from '../../src/rotation/file-lock.ts';
import { keyFile, keyFileIn } from '../../src/rotation/key-file.ts';
import { generation } from '../credentials/keys.ts';
import { thrownBy } from '../errors/refusal.ts';
import { rejection } from '../http/clients.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pex-keys-'));
  path = join(folder, 'keys.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const set = (text: string) => keyFile({ path }).update(() => text);
const isPosix = process.platform !== 'win32';

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
      expect(await rejection(storage.read())).toMatchObject({ code: 'key_storage_exposed' });
      expect(await rejection(set('two'))).toMatchObject({ code: 'key_storage_exposed' });
      chmodSync(path, 0o600);
      expect(await storage.read()).toBe('one');
    },
  );

  it('is never left half written: it is written beside, synced, renamed, and the folder synced', async () => {
    const steps: string[] = [];
    const watched: FileSystem = new Proxy(fs, {
      get(target, name) {
        // Sound: only functions of node:fs are asked for.
        const step = Reflect.get(target, name) as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => {
          const end = typeof given[0] === 'string' ? ` ${given[0].slice(folder.length)}` : '';
          if (!/realpath|fstat|read/.test(String(name))) steps.push(String(name) + end);
          return step(...given);
        };
      },
    });
    await keyFileIn({ path }, { fs: watched, paths, host: hostname(), now: Date.now }).update(() => 'one');
    const writing = steps.slice(
      steps.indexOf('rmSync /keys.json.tmp'),
      steps.indexOf('rmSync /keys.json.lock'),
    );
    expect(writing).toEqual([
      'rmSync /keys.json.tmp',
      'openSync /keys.json.tmp',
      'writeFileSync',
      'fsyncSync',
      'closeSync',
      // Does it still hold the lock?
      'openSync /keys.json.lock',
      'closeSync',
      'renameSync /keys.json.tmp',
      'openSync ',
      'fsyncSync',
      'closeSync',
      'openSync /keys.json.lock',
      'closeSync',
    ]);
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
    expect(await rejection(missing.update(() => 'one'))).toMatchObject({
      code: 'key_storage_failed',
      message: expect.stringContaining('ENOENT'),
    });
    mkdirSync(path);
    expect(await rejection(keyFile({ path }).read())).toMatchObject({ name: 'KeyError' });
    expect(await rejection(set('one'))).toMatchObject({ name: 'KeyError' });
  });

  it('of more than a mebibyte is refused', async () => {
    writeFileSync(path, 'x'.repeat(1_048_577), { mode: 0o600 });
    expect(await rejection(keyFile({ path }).read())).toMatchObject({ code: 'key_storage_invalid' });
  });

  it('stays as it was, unlocked, when the change throws', async () => {
    await set('one');
    const error = new Error('no');
    const throws = () => {
      throw error;
    };
    expect(await rejection(keyFile({ path }).update(throws))).toBe(error);
    expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['one', ['keys.json']]);
  });

  it('loses no change of many at once in one process', async () => {
    const storage = keyFile({ path });
    await Promise.all(
      Array.from({ length: 30 }, () => storage.update((text) => String(Number(text ?? 0) + 1))),
    );
    expect(await storage.read()).toBe('30');
  });

  it('loses no change of several processes', async () => {
    const ends = await Promise.all(Array.from({ length: 4 }, () => runChild(path, 'count', '25')));
    expect(ends).toEqual([0, 0, 0, 0]);
    expect(await keyFile({ path }).read()).toBe('100');
    expect(readdirSync(folder)).toEqual(['keys.json']);
  }, 60_000);
});

describe('a lock that was left behind', () => {
  const dead = { token: 'dead', host: hostname(), pid: 2 ** 22 + 1 };
  const leave = (text: string, ageMs = 0) => {
    writeFileSync(`${path}.lock`, text, { mode: 0o600 });
    const at = (Date.now() - ageMs) / 1000;
    utimesSync(`${path}.lock`, at, at);
  };

  it.each<[string, string, number]>([
    ['by a process that has died', JSON.stringify(dead), 0],
    ['by a process of another machine, long ago', JSON.stringify({ ...dead, host: 'elsewhere' }), 31_000],
    [
      'with the number of a process that runs, long ago',
      JSON.stringify({ ...dead, pid: process.pid }),
      31_000,
    ],
    ['before its holder was written into it, long ago', '', 31_000],
    ['with a token that is a path, long ago', JSON.stringify({ ...dead, token: '../../x' }), 31_000],
  ])('%s is removed', async (_, text, ageMs) => {
    leave(text, ageMs);
    await set('one');
    expect([await keyFile({ path }).read(), readdirSync(folder)]).toEqual(['one', ['keys.json']]);
  });

  it.each<[string, object]>([
    ['that runs', { ...dead, pid: process.pid }],
    ['of another machine', { ...dead, host: 'elsewhere' }],
  ])('a moment ago by a process %s is waited for', async (_, holder) => {
    leave(JSON.stringify(holder));
    let isDone = false;
    const update = set('one').then(() => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isDone).toBe(false);
    rmSync(`${path}.lock`);
    await update;
    expect(await keyFile({ path }).read()).toBe('one');
  });

  /** The file system, with something that happens before one of its steps. */
  const interrupted = (before: string, end: string, happens: () => void): FileSystem =>
    new Proxy(fs, {
      get(target, name) {
        // Sound: only functions of node:fs are asked for.
        const step = Reflect.get(target, name) as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => {
          if (name === before && String(given[0]).endsWith(end)) happens();
          return step(...given);
        };
      },
    });
  const lockWith = (system: FileSystem) =>
    tryLock(`${path}.lock`, { fs: system, host: hostname(), now: Date.now });

  it('is left alone when another process has removed it first, and holds a new one', () => {
    leave(JSON.stringify(dead));
    const fresh = JSON.stringify({ ...dead, token: 'fresh', pid: process.pid });
    const late = interrupted('writeFileSync', '.lock.dead', () => leave(fresh));
    expect(lockWith(late)).toBeUndefined();
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(fresh);
  });

  it('is removed by one process only', () => {
    leave(JSON.stringify(dead));
    const others: unknown[] = [];
    const first = interrupted('rmSync', '.lock', () => others.push(lockWith(fs), lockWith(fs)));
    expect(lockWith(first)).toBeUndefined();
    expect(others).toEqual([undefined, undefined]);
    expect(lockWith(fs)?.isHeld()).toBe(true);
  });

  it('is removed once, and no newer lock with it, when many find it', async () => {
    for (let round = 0; round < 5; round++) {
      leave(JSON.stringify({ ...dead, token: `dead-${round}` }));
      await Promise.all(Array.from({ length: 3 }, () => runChild(path, 'count', '3')));
    }
    expect(await keyFile({ path }).read()).toBe('45');
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
    const stopped: FileSystem = new Proxy(fs, {
      get(target, name) {
        // Sound: only functions of node:fs are asked for.
        const step = Reflect.get(target, name) as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => {
          const result = step(...given);
          if (name === 'writeFileSync' && typeof given[0] === 'number' && !isTaken) {
            isTaken = true;
            rmSync(`${path}.lock`);
            writeFileSync(path, 'theirs', { mode: 0o600 });
          }
          return result;
        };
      },
    });
    const storage = keyFileIn({ path }, { fs: stopped, paths, host: hostname(), now: Date.now });
    await storage.update((text) => `${text ?? 'nothing'} and mine`);
    expect(await keyFile({ path }).read()).toBe('theirs and mine');
  });
});

describe.each([
  ['that nobody holds', () => {}],
  [
    'whose lock a dead process has left',
    () => {
      const holder = { token: 'dead', host: hostname(), pid: 2 ** 22 + 1 };
      writeFileSync(`${path}.lock`, JSON.stringify(holder), { mode: 0o600 });
    },
  ],
])('a key file %s', (_, prepare) => {
  it('survives kill -9 before any of its steps: old or new keys, and the next process goes on', async () => {
    const found = new Set<string>();
    let killed = 0;
    for (let step = 0; ; step++) {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      await createKeyRotation({ storage: keyFile({ path }) }).receive(generation(1));
      prepare();
      const end = await runChild(path, 'receive', String(step));
      const rotation = createKeyRotation({ storage: keyFile({ path }) });
      const { verifying } = await rotation.credentials();
      const names = verifying.map(({ partnerPublicKey }) => partnerPublicKey.slice('pk_partner_'.length));
      found.add(names.join());
      // It repeats the step, and finds no lock that nobody holds.
      await rotation.receive(generation(2));
      await rotation.promote();
      expect((await rotation.credentials()).signing.partnerPublicKey).toBe('pk_partner_2');
      const left = readdirSync(folder).filter((file) => !isRightToRemove(file));
      expect(left, `after step ${step}`).toEqual(['keys.json']);
      if (end === 0) break;
      expect(end).toBe('SIGKILL');
      killed += 1;
    }
    expect(found).toEqual(new Set(['1', '1,2']));
    expect(killed).toBeGreaterThan(20);
  }, 120_000);
});

/** The second crash in a row may leave it. It holds no key, and stands in nobody's way. */
function isRightToRemove(file: string): boolean {
  return file.startsWith('keys.json.lock.');
}

it.each([undefined, '', 5])('keyFile refuses the path %s', (given) => {
  const options = { path: given } as unknown as { path: string };
  expect(thrownBy(() => keyFile(options))).toMatchObject({ code: 'invalid_option' });
});
