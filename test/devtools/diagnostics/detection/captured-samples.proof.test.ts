import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  joiners,
  keySeparators,
  separators,
} from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { fittingSchemes } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { probe } from '../../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { explainMismatch } from '../../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { refusal } from '../../../support/refusal.ts';
import { secrets, signedOver, signedUnder } from '../support.ts';

const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const sample = signedUnder(hmac, { text: probe });

describe('several merchants', () => {
  const { merchantSecretKey, ...others } = secrets;
  const merchantSecretKeys = { GHS: 'sk_merchant_of_ghana', NGN: merchantSecretKey };
  const ghana = signedOver(probe, probe, `sk_merchant_of_ghana${secrets.partnerSecretKey}`);

  it('are each tried', () => {
    const credentials = { ...others, merchantSecretKeys };
    for (const body of [sample, ghana]) {
      expect(fittingSchemes(body, credentials)).toEqual([hmac]);
      expect(explainMismatch(body, { credentials }).findings[0]?.id).toMatch(/no-mismatch|other-key/);
    }
    expect(fittingSchemes(ghana, secrets)).toEqual([]);
  });

  it('have their near misses found', () => {
    const padded = {
      ...others,
      merchantSecretKeys: { NGN: `${merchantSecretKey}\n`, GHS: 'sk_merchant_other' },
    };
    const { findings } = explainMismatch(signedUnder(hmac, { text: '{"id":1}' }), { credentials: padded });
    expect(findings.map(({ id }) => id)).toEqual(['secret-padded']);
  });
});

it('an option that is none is refused by explainMismatch', () => {
  expect(refusal(() => explainMismatch(sample, { secret: secrets } as object))).toBe(
    'ConfigurationError invalid_option',
  );
});

it('the search tries what the documentation says', () => {
  const page = readFileSync(new URL('../../../../docs/guides/learn.md', import.meta.url), 'utf8');
  const row = (part: string) => page.split('\n').find((line) => line.startsWith(`| ${part}`)) ?? '';
  const names: Readonly<Record<string, string>> = { '': 'nothing', '\n': 'a line feed', ' ': 'a blank' };
  const listed = (texts: readonly string[]) => texts.map((text) => names[text] ?? `\`${text}\``).join(', ');
  for (const [part, texts] of [
    ['separator', separators],
    ['joiner', joiners],
    ['keySeparator', keySeparators],
    ['serialization', schemeParts.serialization],
    ['encoding', schemeParts.encoding],
    ['orderKey', schemeParts.orderKey],
  ] as const) {
    expect(row(part)).toContain(`| ${listed(texts)}`);
  }
});
