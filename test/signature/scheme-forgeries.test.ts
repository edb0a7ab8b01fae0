import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { schemeParts } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { forgers } from '../proof/forgers.ts';
import { forgeSome, noForgeries, total, unverified } from '../proof/forgery-rounds.ts';
import { digestUnder, extend, hashedBytes, isExtendable } from '../proof/length-extension.ts';
import { orderKey } from '../support/bodies.ts';
import { refusal } from '../support/refusal.ts';
import { times } from '../support/repeat.ts';

// `npm run prove` does it with more than a million.
const count = times(2_000, 20_000);
describe(`${count} forged signatures under every scheme`, () => {
  const result = noForgeries();
  forgeSome(result, { count, seed: 20_250_102, share: 0.8 });

  it('are made of bodies that verify', () => {
    expect(unverified()).toEqual([]);
  });

  it('come from every way of forging', () => {
    for (const { name } of forgers) expect(result.tried.get(name), name).toBeGreaterThan(times(20, 300));
  });

  it('are all refused with a SignatureError', () => {
    expect(total(result)).toBe(count);
    expect(result.failures).toEqual([]);
  });
});

describe('a digest can be extended to a longer text without the secret', () => {
  it.each(schemeParts.construction)('only under hash-prefix: %s', (construction) => {
    // Of every length up to two blocks, so that the padding is as short and as long as it gets.
    const texts = Array.from({ length: 256 }, (_, length) => `{"a":"${'x'.repeat(length)}"}`);
    const extendable = texts.filter((text) => isExtendable(construction, orderKey, text));
    expect(extendable).toHaveLength(construction === 'hash-prefix' ? texts.length : 0);
  });

  it('but no body can carry it: its padding begins with a byte that is no UTF-8', () => {
    const [text, addition] = [Buffer.from('{"a":1'), Buffer.from(',"b":2}')];
    const hashed = hashedBytes('hash-prefix', orderKey.length, text.length);
    const forged = extend(digestUnder('hash-prefix', orderKey, text), hashed, addition);
    const signed = Buffer.concat([Buffer.from(orderKey), text, forged.glue, addition]);
    expect(forged.digest).toEqual(createHash('sha512').update(signed).digest());

    const signature = Buffer.from(`,"signature":"${forged.digest.toString('hex')}"}`);
    const body = Buffer.concat([text, forged.glue, addition.subarray(0, -1), signature]);
    const scheme = { construction: 'hash-prefix', serialization: 'as-sent', encoding: 'hex' } as const;
    expect(refusal(() => verifyBody(body, { key: orderKey, scheme }))).toBe('SignatureError body_not_utf8');
  });
});
