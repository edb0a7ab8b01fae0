import { describe, expect, it } from 'vitest';
import { hash, hashByStream } from '../../src/internal/hash.ts';

describe('a runtime without crypto.hash', () => {
  it.each(['', 'abc', 'é😀', Uint8Array.of(0, 255)])('gets the same digests of %j', (data) => {
    for (const algorithm of ['sha256', 'sha512'] as const) {
      expect(hashByStream(algorithm, data, 'hex')).toBe(hash(algorithm, data, 'hex'));
      expect(hashByStream(algorithm, data, 'binary')).toBe(hash(algorithm, data, 'binary'));
    }
  });
});
