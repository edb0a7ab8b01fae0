import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { aesGcm } from '../../src/keys/aes-gcm.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { type StoredKeysOptions, storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { generation } from '../credentials/keys.ts';
import { rejected, thrownBy } from '../support/refusal.ts';

const cipher = aesGcm({ keys: [{ id: 'a', key: randomBytes(32) }] });

const textIn = async (store: RecordStore) => JSON.stringify(await store.list({ prefix: '', limit: 10 }));

it('encrypted keys are in the store as the cipher writes them, and others only as text', async () => {
  const store = memoryStore();
  await createKeyRotation({ storage: storedKeys({ store, ...cipher }) }).receive(generation(1));
  expect(await textIn(store)).not.toContain('partner_1');
  const plain = memoryStore();
  await createKeyRotation({ storage: storedKeys({ store: plain }) }).receive(generation(1));
  expect(await textIn(plain)).toContain('sk_partner_1');
});

it('what cannot be decrypted is refused, left as it is, and not shown', async () => {
  const store = memoryStore();
  await createKeyRotation({ storage: storedKeys({ store }) }).receive(generation(1));
  const before = await textIn(store);
  const decrypt = (text: string) => {
    throw new Error(`cannot decrypt ${text}`);
  };
  const rotation = createKeyRotation({ storage: storedKeys({ store, encrypt: cipher.encrypt, decrypt }) });
  for (const step of [rotation.credentials(), rotation.receive(generation(2))]) {
    const error = await rejected(step);
    expect(error).toMatchObject({
      code: 'key_storage_invalid',
      message: expect.stringContaining('The record with the keys cannot be decrypted.'),
    });
    expect(inspect(error)).not.toContain('sk_partner');
  }
  expect(await textIn(store)).toBe(before);
});

it.each<[string, (text: string) => unknown, (text: string) => unknown]>([
  ['encrypt returns no text', (text) => text.length, String],
  ['encrypt returns an object', (text) => ({ text }), (written) => Reflect.get(Object(written), 'text')],
  ['encrypt returns a promise', async (text) => text, String],
  ['decrypt does not undo encrypt', (text) => `x${text}`, (text) => text],
  ['decrypt returns a promise', (text) => text, async (text) => text],
])('new keys are not stored where nobody could read them: %s', async (_, encrypt, decrypt) => {
  const store = memoryStore();
  // What a JavaScript caller may pass.
  const wrong = { encrypt, decrypt } as unknown as Pick<StoredKeysOptions, 'encrypt' | 'decrypt'>;
  const rotation = createKeyRotation({ storage: storedKeys({ store, ...wrong }) });
  const error = await rejected(rotation.receive(generation(1)));
  expect(error).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('decrypt must undo encrypt'),
  });
  expect(await textIn(store)).toBe('[]');
});

it('several partners share a store, each under a key of its own, also where one key begins with another', async () => {
  const store = memoryStore();
  const rotationOf = (key: string) => createKeyRotation({ storage: storedKeys({ store, key }) });
  await rotationOf('keys:acme2').receive(generation(2));
  expect((await rotationOf('keys:acme').status()).step).toBe('empty');
  await rotationOf('keys:acme').receive(generation(1));
  expect((await rotationOf('keys:acme').credentials()).signing.partnerPublicKey).toBe('pk_partner_1');
  expect((await rotationOf('keys:acme2').credentials()).signing.partnerPublicKey).toBe('pk_partner_2');
});

it('a record of somebody else is refused', async () => {
  const store = memoryStore();
  await store.transact(['keys'], (records) => records.set('keys', { other: true }));
  const rotation = createKeyRotation({ storage: storedKeys({ store, key: 'keys' }) });
  expect(await rejected(rotation.receive(generation(1)))).toMatchObject({
    code: 'key_storage_invalid',
    message: expect.stringContaining('The record with the keys is not text.'),
  });
});

it.each<[Record<string, unknown>, string]>([
  [{ store: undefined }, 'store must be a record store'],
  [{ key: 'keys of acme' }, 'A key must be'],
  [{ encrypt: cipher.encrypt }, 'Give encrypt and decrypt, or neither'],
  [{ encrypt: 5, decrypt: 5 }, 'encrypt must be a function'],
])('storedKeys refuses %j', (wrong, message) => {
  const options = { store: memoryStore(), ...wrong } as unknown as StoredKeysOptions;
  expect(thrownBy(() => storedKeys(options))).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  });
});
