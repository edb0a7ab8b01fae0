import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeDigest, type FlowContext, flowKey } from '../../src/otp/flow.ts';
import { checkSecrets, keyedHash, seal, unseal } from '../../src/otp/otp-secrets.ts';
import { secret as secretText } from './support.ts';

const [secret] = checkSecrets([secretText]);
const id = 'A'.repeat(22);
const context: FlowContext = {
  to_phone: '+2348012345678',
  purpose: 'sign-in',
  subject: undefined,
  network: undefined,
};

// From Python: hmac, hashlib and struct, over four bytes of length and the bytes of each part.
describe('a hash', () => {
  it('of a code is HMAC-SHA-256 over everything that it stands for', () => {
    expect(codeDigest(secret, id, context, '493021').toString('hex')).toBe(
      'fef69cf079d90c455bde3c6378f41c5e72084e32ecfc706d103159ab834b3732',
    );
  });

  it('is over the bytes of UTF-8', () => {
    expect(keyedHash(secret, 'phone', 'é😀').toString('hex')).toBe(
      '5f55582a4718c4c9832f0899f51ca4318b87d5811c906136638b3a39a502e91a',
    );
  });

  it('of an id is SHA-256', () => {
    expect(flowKey(id)).toBe('otp:flow:ilvbTMFRZBJsbvJmjendJA0pnOY5ekLJWpQRuT0IDtg');
  });

  it('is the same for no two lists of parts', () => {
    const parts = fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const isSame = keyedHash(secret, 'x', ...one).equals(keyedHash(secret, 'x', ...other));
        return isSame === (JSON.stringify(one) === JSON.stringify(other));
      }),
    );
    expect(keyedHash(secret, 'x', 'ab', 'c').equals(keyedHash(secret, 'x', 'a', 'bc'))).toBe(false);
  });
});

describe('a sealed text', () => {
  const text = '["+2348012345678","sign-in"]';
  const sealed = seal(secret, id, { text, nonce: randomBytes(12) });

  it('is opened with its secret and its id', () => {
    expect(unseal(secret, id, sealed)).toBe(text);
  });

  it('is not opened with another secret or id, or when a bit of it was changed', () => {
    const [other] = checkSecrets(['another-secret-0123456789abcdef012345']);
    expect(unseal(other, id, sealed)).toBeUndefined();
    expect(unseal(secret, 'B'.repeat(22), sealed)).toBeUndefined();
    const bytes = Buffer.from(sealed, 'base64url');
    for (let place = 0; place < bytes.length; place++) {
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(unseal(secret, id, changed.toString('base64url'))).toBeUndefined();
      expect(unseal(secret, id, bytes.subarray(0, place).toString('base64url'))).toBeUndefined();
    }
  });
});
