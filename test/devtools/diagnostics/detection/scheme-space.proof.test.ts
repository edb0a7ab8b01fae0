import { describe, expect, it } from 'vitest';
import {
  allTextRules,
  makeKey,
  normalizeScheme,
} from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { textUnder } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { probe } from '../../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { writeSignature } from '../../../../src/signature/digest.ts';
import { checkScheme, schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { allSchemes, secrets } from '../support.ts';

describe('the schemes that are tried', () => {
  it('are sound, and named in their shortest form', () => {
    for (const scheme of allSchemes()) {
      checkScheme(scheme);
      if (JSON.stringify(normalizeScheme(scheme)) !== JSON.stringify(scheme)) {
        expect.fail(`${JSON.stringify(scheme)} has a shorter form`);
      }
    }
  });

  it('use every value of every part', () => {
    const used = {
      construction: new Set(),
      serialization: new Set(),
      encoding: new Set(),
      orderKey: new Set(),
    };
    for (const scheme of allSchemes()) {
      used.construction.add(scheme.construction);
      used.serialization.add(scheme.serialization);
      used.encoding.add(scheme.encoding);
      used.orderKey.add(scheme.orderKey ?? 'merchant+partner');
    }
    for (const [part, values] of Object.entries(schemeParts)) {
      expect(used[part as keyof typeof used], part).toEqual(new Set(values));
    }
  });

  it.each([
    [{ construction: 'hmac', separator: '' }, {}],
    [{ construction: 'hmac', joiner: '|' }, {}],
    [{ construction: 'hmac', orderKey: 'merchant+partner', keySeparator: '' }, {}],
    [{ construction: 'hmac', orderKey: 'partner', keySeparator: ':' }, { orderKey: 'partner' }],
  ] as const)('are named without what has no effect: %j', (parts, kept) => {
    const rest = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
    expect(normalizeScheme({ ...rest, ...parts })).toEqual({ ...rest, ...kept });
  });
});

describe('the probe', () => {
  it('is an order-like JSON object of less than 1 KiB without a signature', () => {
    const text = probe;
    expect(JSON.parse(text)).toMatchObject({
      fiat_amount: 1,
      rate: 0.5,
      payment_link: null,
      kyc: true,
      note: '',
    });
    expect(JSON.parse(text)).not.toHaveProperty('signature');
    expect(Buffer.byteLength(text)).toBeLessThan(1024);
  });

  it('has a signature of its own under each of all schemes, of either purpose', () => {
    const text = probe;
    const value = JSON.parse(text);
    const texts = new Map(
      allTextRules().map((rule) => [
        `${rule.serialization} ${rule.joiner ?? ''}`,
        textUnder(rule, { json: text, value }) ?? '',
      ]),
    );
    const seen = new Map<string, string>();
    const alike: string[] = [];
    let count = 0;
    for (const scheme of allSchemes()) {
      const canonical = texts.get(`${scheme.serialization} ${scheme.joiner ?? ''}`) ?? '';
      const signature = writeSignature(scheme, makeKey(secrets, scheme, 'order') ?? '', canonical);
      const name = JSON.stringify(scheme);
      const other = seen.get(signature);
      if (other !== undefined) alike.push(`${name} = ${other}`);
      seen.set(signature, name);
      count++;
    }
    expect(alike).toEqual([]);
    expect(seen.size).toBe(count);
    expect(count).toBeGreaterThan(25_000);
  }, 60_000);
});
