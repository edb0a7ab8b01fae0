import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { probeBody } from '../../../../src/devtools/diagnostics/detection/detect-from-oracle.ts';
import { detectScheme } from '../../../../src/devtools/diagnostics/detection/detect-scheme.ts';
import {
  joiners,
  keySeparators,
  separators,
} from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { explainMismatch } from '../../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { checkPin, pinScheme } from '../../../../src/devtools/diagnostics/pin/pin-scheme.ts';
import { schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { refusal } from '../../../support/refusal.ts';
import { secrets, signedOver, signedUnder } from '../support.ts';

const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const sample = signedUnder(hmac, { text: probeBody() });

describe('a body that its capture has put white space around', () => {
  it.each([
    ['a line feed behind it', `${sample}\n`],
    ['a Windows line break behind it', `${sample}\r\n`],
    ['blanks before and behind it', `  ${sample} \t`],
    ['a byte order mark before it', `\uFEFF${sample}`],
  ])('has its scheme found, since a receiver verifies it: %s', (_, padded) => {
    const { verdict, survivors, nearMisses, samples } = detectScheme([sample, padded], secrets);
    expect({ verdict, nearMisses }).toEqual({ verdict: 'found', nearMisses: [] });
    expect(survivors.map(({ scheme }) => scheme)).toEqual([hmac]);
    expect(samples[1]?.fits).toEqual([hmac]);
    expect(explainMismatch(padded, { secrets }).findings).toMatchObject([{ code: 'no-mismatch' }]);
  });

  it('has its scheme found where the white space was signed', () => {
    const signed = `${signedOver(probeBody(), `${probeBody()}\n`)}\n`;
    const { verdict, nearMisses } = detectScheme(signed, secrets);
    expect([verdict, nearMisses]).toEqual(['found', []]);
  });
});

describe('several merchants', () => {
  const { merchantSecretKey, ...others } = secrets;
  const merchantSecretKeys = { GHS: 'sk_merchant_of_ghana', NGN: merchantSecretKey };
  const ghana = signedOver(probeBody(), probeBody(), `sk_merchant_of_ghana${secrets.partnerSecretKey}`);

  it('are each tried', () => {
    expect(detectScheme(sample, { ...others, merchantSecretKeys }).verdict).toBe('found');
    expect(detectScheme(ghana, { ...others, merchantSecretKeys }).verdict).toBe('found');
    expect(explainMismatch(ghana, { secrets: { ...others, merchantSecretKeys } }).findings).toMatchObject([
      { code: 'no-mismatch' },
    ]);
  });

  it('may have signed one sample each', () => {
    const { verdict, survivors } = detectScheme([sample, ghana], { ...others, merchantSecretKeys });
    expect(verdict).toBe('found');
    expect(survivors.map(({ scheme }) => scheme)).toEqual([hmac]);
    expect(detectScheme([sample, ghana], secrets).samples[1]?.fits).toEqual([]);
  });

  it('have their near misses found', () => {
    const padded = { GHS: 'sk_merchant_of_ghana', NGN: `${merchantSecretKey}\n` };
    const { nearMisses } = detectScheme(signedUnder(hmac, { text: '{"id":1}' }), {
      ...others,
      merchantSecretKeys: padded,
    });
    expect(nearMisses.map(({ code }) => code)).toEqual(['secret-padded']);
  });
});

describe('a detection says beside its verdict', () => {
  it('that the secrets may be in each other’s place', () => {
    const swapped = {
      ...secrets,
      partnerSecretKey: secrets.merchantSecretKey,
      merchantSecretKey: secrets.partnerSecretKey,
    };
    const { verdict, message } = detectScheme(sample, swapped);
    expect(verdict).toBe('found');
    expect(message).toContain('But: Judging by their prefixes');
  });

  it('that nothing was searched without a secret', () => {
    const { samples } = detectScheme([sample, 'x'], {});
    expect(samples.map(({ message }) => message)).toEqual([
      'Not searched: there is no secret to try.',
      'Not JSON: give the body alone, complete, as received.',
    ]);
  });

  it('what is wrong with a hole in the list of samples', () => {
    const holed = [sample];
    holed[2] = sample;
    const { verdict, samples } = detectScheme(holed, secrets);
    expect(verdict).toBe('found');
    expect(samples.map(({ status }) => status)).toEqual(['usable', 'not-raw', 'usable']);
  });
});

describe('an option that is none', () => {
  it.each([
    ['detectScheme', () => detectScheme(sample, secrets, { purpos: 'general' } as object)],
    ['detectScheme', () => detectScheme(sample, secrets, { purpose: 'orders' } as object)],
    ['explainMismatch', () => explainMismatch(sample, { secret: secrets } as object)],
    ['pinScheme', () => pinScheme({ scheme: hmac, sample, key: 'k' } as never)],
    ['checkPin', () => checkPin({}, { keys: ['k'] } as never)],
  ])('is refused by %s', (_, call) => {
    expect(refusal(call)).toBe('ConfigurationError invalid_option');
  });
});

it('detectScheme tries what the documentation says', () => {
  const page = readFileSync(new URL('../../../../docs/guides/find-the-scheme.md', import.meta.url), 'utf8');
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
