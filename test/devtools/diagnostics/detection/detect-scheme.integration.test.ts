import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { probeBody } from '../../../../src/devtools/diagnostics/detection/detect-from-oracle.ts';
import { detectScheme } from '../../../../src/devtools/diagnostics/detection/detect-scheme.ts';
import { safetyNotes } from '../../../../src/devtools/diagnostics/detection/safety-notes.ts';
import {
  allFormRules,
  allKeyRules,
  allTextRules,
  composeScheme,
} from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { serializationRules } from '../../../../src/signature/serializations.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { type SignatureScheme, schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { some } from '../../../support/repeat.ts';
import { eventText, secrets, signedUnder } from '../support.ts';

interface Vector {
  name: string;
  merchantSecretKey: string;
  partnerSecretKey: string;
  purpose: 'order' | 'general';
  scheme: SignatureScheme;
  sentText: string;
  expect: 'valid' | 'invalid';
}

const { vectors }: { vectors: Vector[] } = JSON.parse(
  readFileSync(new URL('../../../vectors/signatures.json', import.meta.url), 'utf8'),
);
const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;

describe('a body signed by another implementation', () => {
  const valid = vectors.filter((vector) => vector.expect === 'valid');

  it.each(some(valid, 30))('has its scheme found first: $name', (vector) => {
    const { purpose, scheme, sentText } = vector;
    const { survivors } = detectScheme(sentText, vector, { purpose });
    expect(survivors[0]?.scheme).toEqual(scheme);
  });

  it.each(valid.filter(({ purpose }) => purpose === 'general').slice(0, 5))(
    'of a general request, taken for an order, is found with the partner secret alone: $name',
    (vector) => {
      const { survivors } = detectScheme(vector.sentText, vector);
      expect(survivors[0]?.scheme).toEqual({ ...vector.scheme, orderKey: 'partner' });
      expect(survivors[0]?.notes.map(({ code }) => code)).toContain('secret-alone');
    },
  );

  it('that was forged has not the scheme of which it was forged', () => {
    const forged = vectors.filter((vector) => vector.expect === 'invalid').slice(0, 10);
    for (const { scheme, sentText, purpose, ...keys } of forged) {
      const { survivors } = detectScheme(sentText, keys, { purpose });
      expect(survivors.map((survivor) => survivor.scheme)).not.toContainEqual(scheme);
    }
  });
});

describe('a file in which listen kept an event', () => {
  const [vector] = vectors.filter(
    ({ expect: expected, purpose }) => expected === 'valid' && purpose === 'order',
  );
  it.each(['body', 'bodyBase64'])('is read as its %s', (member) => {
    if (vector === undefined) expect.unreachable();
    const content = member === 'body' ? vector.sentText : Buffer.from(vector.sentText).toString('base64');
    const file = JSON.stringify({ format: 'partner-exchange-delivery/1', headers: [], [member]: content });
    const { verdict, survivors } = detectScheme(Buffer.from(file), vector);
    expect(verdict).toBe('found');
    expect(survivors[0]?.scheme).toEqual(vector.scheme);
  });
});

describe('the signed probe has one scheme only', () => {
  const probe = { text: probeBody() };
  const forms = allFormRules();
  const texts = allTextRules();
  // Each combination of form and text, with every encoding in turn; with one secret the search is short.
  const bodies = forms.flatMap((form, one) =>
    texts.map((text, other) => {
      const encoding = schemeParts.encoding[(one + other) % schemeParts.encoding.length] ?? 'hex';
      return composeScheme({ form, text, key: {}, encoding });
    }),
  );

  it.each(forms)('$construction $separator', ({ construction, separator }) => {
    const inForm = bodies.filter((one) => one.construction === construction && one.separator === separator);
    for (const scheme of some(inForm, 4)) {
      const sample = signedUnder(scheme, { ...probe, purpose: 'general' });
      const { partnerSecretKey } = secrets;
      const { verdict, survivors } = detectScheme(sample, { partnerSecretKey }, { purpose: 'general' });
      expect(verdict).toBe('found');
      expect(survivors.map((survivor) => survivor.scheme)).toEqual([scheme]);
    }
  });

  it.each(some(allKeyRules('order'), 6))('key $orderKey $keySeparator', (key) => {
    const index = allKeyRules('order').findIndex((rule) => JSON.stringify(rule) === JSON.stringify(key));
    const form = forms[index % forms.length];
    const text = texts[(index * 7) % texts.length];
    if (form === undefined || text === undefined) throw new Error('There are no rules.');
    const scheme = composeScheme({ form, text, key, encoding: 'base64-hex' });
    const { verdict, survivors } = detectScheme(signedUnder(scheme, probe), secrets);
    expect(verdict).toBe('found');
    expect(survivors.map((survivor) => survivor.scheme)).toEqual([scheme]);
  });
});

describe('what signBody signs', () => {
  it.each(schemeParts.serialization.map((serialization) => ({ ...hmac, serialization })))(
    'is among the survivors: $serialization',
    (scheme) => {
      const { partnerSecretKey } = secrets;
      const { text } = signBody(JSON.parse(probeBody()), { key: partnerSecretKey, scheme });
      const { survivors } = detectScheme(text, { partnerSecretKey }, { purpose: 'general' });
      // What signBody posts has no white space.
      const { likeUnspaced: serialization = scheme.serialization } = serializationRules(scheme.serialization);
      expect(survivors.map((survivor) => survivor.scheme)).toContainEqual({ ...scheme, serialization });
    },
  );
});

describe('samples that cannot tell schemes apart', () => {
  const sample = signedUnder(hmac);

  it('leave all of them, the text as sent first', () => {
    const { verdict, survivors, undecided, message } = detectScheme(sample, secrets);
    expect(verdict).toBe('ambiguous');
    expect(survivors.map(({ scheme }) => scheme)).toEqual([hmac, { ...hmac, serialization: 'compact' }]);
    expect(undecided).toEqual(['serialization']);
    expect(message).toContain('have a probe signed');
  });

  it('are helped by one that can', () => {
    const telling = signedUnder(hmac, { text: '{"fiat_amount":10.0}' });
    for (const samples of [
      [sample, telling],
      [telling, sample],
    ]) {
      const { verdict, survivors } = detectScheme(samples, secrets);
      expect(verdict).toBe('found');
      expect(survivors.map(({ scheme }) => scheme)).toEqual([hmac]);
    }
  });

  it('are as sent where white space alone could tell them from minified, which a body with some can be', () => {
    const minified = { ...hmac, serialization: 'minified' } as const;
    const text = '{"fiat_amount":10.0,"a":"\\u00C9/"}';
    const other = text.replace('10.0', '20.0');
    const spaced = signedUnder(minified, { text: other }).replace('{', '{ ').replace(',', ', ');
    for (const [samples, scheme] of [
      [[signedUnder(hmac, { text })], hmac],
      [[signedUnder(hmac, { text }), spaced], minified],
    ] as const) {
      const { verdict, survivors } = detectScheme(samples, secrets);
      expect([verdict, survivors.map((survivor) => survivor.scheme)]).toEqual(['found', [scheme]]);
    }
  });

  it('leave a body without members to nearly every serialisation', () => {
    const { survivors } = detectScheme(signedUnder(hmac, { text: '{}' }), secrets);
    expect(survivors[0]?.scheme).toEqual(hmac);
    expect(survivors.length).toBeGreaterThan(4);
  });
});

describe('samples that contradict each other', () => {
  const hash = { ...hmac, construction: 'hash-suffix', serialization: 'php', encoding: 'base64' } as const;
  // PHP escapes the slash.
  const short = { text: '{"a":"/"}' };
  const foreign = signBody({ id: 1 }, { key: 'sk_of_somebody_else' }).text;

  it('are each reported with what fits them', () => {
    const detection = detectScheme([signedUnder(hmac, short), signedUnder(hash, short)], secrets);
    expect(detection.verdict).toBe('contradictory');
    expect(detection.survivors).toEqual([]);
    expect(detection.samples.map(({ fits }) => fits[0])).toEqual([hmac, hash]);
  });

  it('are not one that fits and one that fits nothing, in either order', () => {
    for (const samples of [
      [signedUnder(hash, short), foreign],
      [foreign, signedUnder(hash, short)],
    ]) {
      const { verdict, survivors, message, samples: reports } = detectScheme(samples, secrets);
      expect({ verdict, scheme: survivors[0]?.scheme }).toEqual({ verdict: 'found', scheme: hash });
      expect(message).toContain('1 of the samples it does not fit');
      expect(reports.map(({ fits }) => fits.length)).toEqual(
        samples.map((sample) => (sample === foreign ? 0 : 1)),
      );
    }
  });
});

describe('a copy of a sample in another spelling', () => {
  it.each([
    ['one blank more', (body: string) => body.replace(',', ', ')],
    ['line feeds', (body: string) => JSON.stringify(JSON.parse(body), null, 2)],
  ])('with %s leaves the schemes as they are, in either order', (_, copyOf) => {
    const original = signedUnder(hmac, { text: '{"a":"x","b":"y"}' });
    const { verdict, survivors } = detectScheme(original, secrets);
    expect(survivors[0]?.scheme).toEqual(hmac);
    for (const samples of [
      [original, copyOf(original)],
      [copyOf(original), original],
    ])
      expect(detectScheme(samples, secrets)).toMatchObject({ verdict, survivors });
  });
});

describe('a scheme is noted as unsafe', () => {
  it.each([
    ['not at all, when it is the default', hmac, []],
    ['for length extension', { ...hmac, construction: 'hash-prefix' }, ['length-extension']],
    ['for a plain hash', { ...hmac, construction: 'hash-suffix' }, ['plain-hash']],
    [
      'for values joined',
      { ...hmac, serialization: 'values' },
      ['field-shifting', 'names-unsigned', 'types-unsigned'],
    ],
    [
      'for values joined by something',
      { ...hmac, serialization: 'values', joiner: '|' },
      ['field-shifting', 'names-unsigned', 'types-unsigned'],
    ],
    [
      'for a query without escapes',
      { ...hmac, serialization: 'query' },
      ['field-shifting', 'types-unsigned'],
    ],
    ['for what parsing loses', { ...hmac, serialization: 'sorted' }, ['lossy']],
    ['for a secret alone', { ...hmac, orderKey: 'merchant' }, ['secret-alone']],
    ['for a public key', { ...hmac, orderKey: 'public+partner', keySeparator: ':' }, ['public-key']],
  ] as [string, SignatureScheme, string[]][])('%s', (_, scheme, codes) => {
    expect(safetyNotes(scheme).map(({ code }) => code)).toEqual(codes);
  });
});

describe('a detection', () => {
  const short = { text: '{"id":1}' };

  it('is plain data', () => {
    for (const sample of [signedUnder(hmac, short), eventText, 'x']) {
      const detection = detectScheme(sample, secrets);
      expect(JSON.parse(JSON.stringify(detection))).toEqual(detection);
    }
  });

  it('holds no secret and no signature', () => {
    const sample = signedUnder(hmac, short);
    const padded = { ...secrets, partnerSecretKey: `${secrets.partnerSecretKey}\n` };
    const printed = [detectScheme(sample, secrets), detectScheme(sample, padded)].map((each) =>
      JSON.stringify(each),
    );
    for (const secret of Object.values(secrets)) {
      expect(printed.join()).not.toContain(secret.slice(-8));
    }
    expect(printed.join()).not.toMatch(/[0-9a-f]{32}/i);
  });

  it('reads the secrets of credentials that do not show them', () => {
    const hidden = Object.defineProperties({}, Object.getOwnPropertyDescriptors(secrets));
    for (const name of Object.keys(secrets)) Object.defineProperty(hidden, name, { enumerable: false });
    expect(detectScheme(signedUnder(hmac), hidden).verdict).toBe('ambiguous');
  });

  it('works with any one secret', () => {
    const { merchantSecretKey } = secrets;
    const scheme = { ...hmac, orderKey: 'merchant' } as const;
    expect(detectScheme(signedUnder(scheme), { merchantSecretKey }).survivors[0]?.scheme).toEqual(scheme);
  });

  it('takes bytes', () => {
    const bytes = new TextEncoder().encode(signedUnder(hmac));
    expect(detectScheme(bytes, secrets).verdict).toBe('ambiguous');
    expect(detectScheme([bytes], secrets).verdict).toBe('ambiguous');
  });
});
