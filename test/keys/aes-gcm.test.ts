import { createDecipheriv, createHash } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AesGcmOptions, aesGcm } from '../../src/keys/aes-gcm.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { generation } from '../credentials/keys.ts';
import { refusal, rejected, thrownBy } from '../support/refusal.ts';

const secretOf = (name: string) => createHash('sha256').update(name).digest();
const keyOf = (id: string, name = id) => ({ id, key: secretOf(name) });
const fromElsewhere = 'v1.a.AAAAAAAAAAAAAAAA.BZs5c9BMTRuvlY9qyh2NL39kmF0';
const cipher = aesGcm({ keys: [keyOf('a')] });
const base64 = secretOf('a').toString('base64');

describe('aesGcm', () => {
  it('gives back any text, and another ciphertext each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const encrypted = cipher.encrypt(text);
        expect(cipher.decrypt(encrypted)).toBe(text);
        expect(cipher.encrypt(text)).not.toBe(encrypted);
      }),
    );
  });

  it('writes the documented form, which plain node:crypto reads', () => {
    const [version, id, nonce = '', sealed = ''] = cipher.encrypt('sk_partner_1').split('.');
    expect([version, id]).toEqual(['v1', 'a']);
    const bytes = Buffer.from(sealed, 'base64url');
    const aes = createDecipheriv('aes-256-gcm', secretOf('a'), Buffer.from(nonce, 'base64url'));
    aes.setAAD(Buffer.from('v1.a')).setAuthTag(bytes.subarray(-16));
    expect(aes.update(bytes.subarray(0, -16), undefined, 'utf8') + aes.final('utf8')).toBe('sk_partner_1');
  });

  it('reads what version 1 has written, for good', () => {
    // Made by OpenSSL through Python's cryptography: AESGCM(sha256(b'a')).encrypt(bytes(12), b'text', b'v1.a').
    expect(cipher.decrypt(fromElsewhere)).toBe('text');
  });

  it('takes the key as base64, too', () => {
    for (const key of [base64, base64.replace('=', '')]) {
      expect(aesGcm({ keys: [{ id: 'a', key }] }).decrypt(cipher.encrypt('text'))).toBe('text');
    }
  });

  it('decrypts with every key, and encrypts with the first: so the key can be replaced', () => {
    const both = aesGcm({ keys: [keyOf('b'), keyOf('a')] });
    expect(both.decrypt(cipher.encrypt('text'))).toBe('text');
    const renewed = both.encrypt('text');
    expect(aesGcm({ keys: [keyOf('b')] }).decrypt(renewed)).toBe('text');
  });

  it.each<[string, string, string]>([
    [
      'another key under the id',
      aesGcm({ keys: [keyOf('a', 'other')] }).encrypt('text'),
      'the key is another one',
    ],
    [
      'a key that is missing',
      aesGcm({ keys: [keyOf('b')] }).encrypt('text'),
      '"b", which aesGcm was not given',
    ],
    ['a plain text', '{"version":1,"current":"sk_partner_1"}', 'is not in the form v1'],
  ])('refuses %s in words, without the text', (_, encrypted, words) => {
    const error = thrownBy(() => cipher.decrypt(encrypted));
    expect(error).toMatchObject({ code: 'key_storage_invalid', message: expect.stringContaining(words) });
    expect(inspect(error)).not.toContain('sk_partner');
    expect(error).not.toHaveProperty('cause');
  });

  it.each(['v2', 'v10'])('says that a later version of the package reads the form %s', (later) => {
    const encrypted = cipher.encrypt('text').replace('v1', later);
    expect(refusal(() => cipher.decrypt(encrypted))).toBe('StoreError newer_format');
    expect(String(thrownBy(() => cipher.decrypt(encrypted)))).toContain('The text of the stored keys');
  });

  it('refuses a text in which any character was changed', () => {
    const encrypted = cipher.encrypt('sk_partner_1');
    for (let index = 0; index < encrypted.length; index++) {
      const other = encrypted[index] === 'A' ? 'B' : 'A';
      const changed = encrypted.slice(0, index) + other + encrypted.slice(index + 1);
      // The last character of base64url holds bits that mean nothing.
      if (index === encrypted.length - 1) continue;
      expect(
        thrownBy(() => cipher.decrypt(changed)),
        `${index}`,
      ).toMatchObject({ code: 'key_storage_invalid' });
    }
  });

  it.each<[unknown, string]>([
    [{}, 'keys must be a list of 1 to 16 keys'],
    [{ keys: [] }, 'keys must be a list of 1 to 16 keys'],
    [
      { keys: Array.from({ length: 17 }, (_, index) => keyOf(`${index}`)) },
      'keys must be a list of 1 to 16 keys',
    ],
    [{ keys: [{ id: 'a.b', key: secretOf('a') }] }, 'keys[0].id must be'],
    [{ keys: [keyOf('a'.repeat(65))] }, 'keys[0].id must be'],
    [{ keys: [{ id: 'a', key: `${base64}\n` }] }, 'keys[0].key must be 32 bytes'],
    [{ keys: [{ id: 'a', key: `${base64}AAAA` }] }, 'keys[0].key must be 32 bytes'],
    [{ keys: [{ id: 'a', key: 'sk_short' }] }, 'keys[0].key must be 32 bytes'],
    [{ keys: [keyOf('a'), { id: 'b', key: secretOf('b').subarray(1) }] }, 'keys[1].key must be 32 bytes'],
    [{ keys: [keyOf('a'), keyOf('a', 'b')] }, 'an id of its own'],
    [{ keys: [keyOf('a')], key: 5 }, '"key" is not an option of aesGcm'],
  ])('refuses the options %j', (options, message) => {
    // Sound: they are refused.
    const error = thrownBy(() => aesGcm(options as AesGcmOptions));
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) });
    expect(inspect(error)).not.toContain('sk_short');
  });
});

describe('stored keys with aesGcm', () => {
  it('survive the replacement of the encryption key, and say which key is missing', async () => {
    const store = memoryStore();
    const rotationWith = (...ids: string[]) =>
      createKeyRotation({
        storage: storedKeys({ store, ...aesGcm({ keys: ids.map((id) => keyOf(id)) }) }),
      });
    await rotationWith('a').receive(generation(1));
    await rotationWith('b', 'a').receive(generation(2));
    expect((await rotationWith('b').credentials()).pending).toMatchObject({
      partnerPublicKey: 'pk_partner_2',
    });
    expect(JSON.stringify(await store.list({ prefix: '', limit: 10 }))).not.toContain('partner_');
    expect(await rejected(rotationWith('a').credentials())).toMatchObject({
      code: 'key_storage_invalid',
      message: expect.stringContaining('"b", which aesGcm was not given'),
    });
  });
});
