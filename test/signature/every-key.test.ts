import type * as Crypto from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { tryVerify } from '../../src/devtools/diagnostics/try-verify.ts';
import { defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { hmacHex, signedText } from '../support/bodies.ts';

/** How often digests were compared. */
const work = vi.hoisted(() => ({ comparisons: 0 }));

vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof Crypto>();
  return {
    ...crypto,
    timingSafeEqual: (...args: Parameters<typeof crypto.timingSafeEqual>) => {
      work.comparisons++;
      return crypto.timingSafeEqual(...args);
    },
  };
});

const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
const json = '{"a":1}';

function comparisonsOf(body: string, scheme: SignatureScheme = defaultScheme): number {
  work.comparisons = 0;
  tryVerify(body, keys, scheme);
  return work.comparisons;
}

describe('of 40 keys', () => {
  it('each is compared, whichever signed the body, and when none did', () => {
    for (const key of ['key 0', 'key 1', 'key 20', 'key 39', 'another']) {
      expect(comparisonsOf(signedText(json, hmacHex(json, key)))).toBe(40);
    }
  });

  it('each is compared with each text that may have been signed, whichever was', () => {
    const texts = [json, `\uFEFF${json}\n`, `${json}\n`];
    for (const text of [...texts, 'another']) {
      for (const key of ['key 0', 'key 39', 'another']) {
        expect(comparisonsOf(`\uFEFF${signedText(json, hmacHex(text, key))}\n`)).toBe(40 * texts.length);
      }
    }
  });
});
