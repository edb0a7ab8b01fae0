import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { storeKinds } from '../store/store-kinds.ts';

/** A storage of its own for each test, and how to remove it. */
export interface TestStorage {
  readonly storage: KeyStorage;
  remove(): void | Promise<void>;
}

const secret = randomBytes(32);

/** AES-256-GCM, as docs/details/keys.md shows it. */
export const cipher = {
  encrypt(text: string): string {
    const iv = randomBytes(12);
    const aes = createCipheriv('aes-256-gcm', secret, iv);
    const parts = [iv, aes.update(text, 'utf8'), aes.final()];
    return Buffer.concat([...parts, aes.getAuthTag()]).toString('base64');
  },
  decrypt(text: string): string {
    const bytes = Buffer.from(text, 'base64');
    const aes = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12));
    aes.setAuthTag(bytes.subarray(-16));
    return aes.update(bytes.subarray(12, -16), undefined, 'utf8') + aes.final('utf8');
  },
};

export const storages: readonly (readonly [name: string, make: () => TestStorage])[] = [
  ...storeKinds().map(({ name, open }): readonly [string, () => TestStorage] => [
    `storedKeys on ${name}`,
    () => ({ storage: storedKeys({ store: open(Date.now) }), remove() {} }),
  ]),
  [
    'storedKeys, encrypted',
    () => ({ storage: storedKeys({ store: memoryStore(), ...cipher }), remove() {} }),
  ],
];

/** When an update of the storage ends the process, as its caller sees it: nothing is written, or everything. */
export type Crash = 'before' | 'after';

export class Crashed extends Error {}

/** A storage that crashes in its update number `at`, counted from 0. */
export function crashing(storage: KeyStorage, at: number, crash: Crash): KeyStorage {
  let updates = 0;
  return {
    read: () => storage.read(),
    async update(change) {
      const isNow = updates++ === at;
      if (isNow && crash === 'before') throw new Crashed();
      await storage.update(change);
      if (isNow) throw new Crashed();
    },
  };
}
