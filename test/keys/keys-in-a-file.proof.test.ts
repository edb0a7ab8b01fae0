import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { generation } from '../credentials/keys.ts';
import { rejected } from '../support/refusal.ts';
import { scratchFolder } from '../support/scratch.ts';

let path: string;
beforeEach(() => {
  path = join(scratchFolder(), 'keys.sqlite');
});

/** Works with the keys in the file, as a program that has just started. */
async function withKeys<Result>(work: (storage: KeyStorage) => Promise<Result>): Promise<Result> {
  const store = sqliteStore({ path });
  try {
    return await work(storedKeys({ store }));
  } finally {
    await store.close();
  }
}

const receive = (number: number) =>
  withKeys((storage) => createKeyRotation({ storage }).receive(generation(number)));

/** Runs `keys-child.ts`; the signal that ended it, or its exit code. */
async function runChild(...given: string[]): Promise<string | number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'keys-child.ts'), ...given], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

describe('keys in a file', () => {
  it.skipIf(process.platform === 'win32')(
    'are readable by their owner alone, whatever the umask',
    async () => {
      const umask = process.umask(0);
      const store = sqliteStore({ path });
      try {
        await createKeyRotation({ storage: storedKeys({ store }) }).receive(generation(1));
        const folder = join(path, '..');
        const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
        expect(modes).toEqual([0o600, 0o600, 0o600]);
      } finally {
        process.umask(umask);
        await store.close();
      }
      chmodSync(path, 0o644);
      await receive(2);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    },
  );

  it('are old or new after a kill before any call of SQLite, and the next process goes on', async () => {
    const found = new Set<string>();
    let calls = 0;
    for (let ended: string | number = 'SIGKILL'; ended === 'SIGKILL'; calls++) {
      path = join(scratchFolder(), 'keys.sqlite');
      await receive(1);
      ended = await runChild(path, 'receive', String(calls));
      expect([0, 'SIGKILL']).toContain(ended);
      const { verifying } = await withKeys((storage) => createKeyRotation({ storage }).credentials());
      found.add(verifying.map(({ partnerPublicKey }) => partnerPublicKey).join());
      await receive(2);
      await withKeys((storage) => createKeyRotation({ storage }).promote());
      const { signing } = await withKeys((storage) => createKeyRotation({ storage }).credentials());
      expect(signing.partnerPublicKey).toBe('pk_partner_2');
      expect(readdirSync(join(path, '..'))).toEqual(['keys.sqlite']);
    }
    expect(found).toEqual(new Set(['pk_partner_1', 'pk_partner_1,pk_partner_2']));
    expect(calls).toBeGreaterThan(15);
  }, 120_000);

  it('lose no change of four processes at once', async () => {
    const ends = await Promise.all(Array.from({ length: 4 }, () => runChild(path, 'count', '25')));
    expect(ends).toEqual([0, 0, 0, 0]);
    expect(await withKeys((storage) => storage.read())).toBe('100');
  }, 60_000);

  it('stay as they were, unlocked, when the change throws', async () => {
    await receive(1);
    const error = new Error('no');
    const throws = () => {
      throw error;
    };
    expect(await withKeys((storage) => rejected(storage.update(throws)))).toBe(error);
    await receive(2);
  });
});
