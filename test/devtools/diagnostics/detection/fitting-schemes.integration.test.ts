import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import {
  allFormRules,
  allKeyRules,
  allTextRules,
  composeScheme,
} from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { fittingSchemes } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { probe } from '../../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { serializationRules } from '../../../../src/signature/serializations.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { type SignatureScheme, schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { some } from '../../../support/repeat.ts';
import { secrets, signedUnder } from '../support.ts';

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

const hash = { ...hmac, construction: 'hash-suffix', serialization: 'php', encoding: 'base64' } as const;
const short = { text: '{"id":1}' };

describe('a body signed by another implementation', () => {
  const valid = vectors.filter((vector) => vector.expect === 'valid');

  it.each(some(valid, 30))('has its scheme found first: $name', (vector) => {
    const { purpose, scheme, sentText } = vector;
    expect(fittingSchemes(sentText, vector, purpose)[0]).toEqual(scheme);
  });

  it.each(valid.filter(({ purpose }) => purpose === 'general').slice(0, 5))(
    'of a general request, taken for an order, is found with the partner secret alone: $name',
    (vector) => {
      const [scheme] = fittingSchemes(vector.sentText, vector);
      expect(scheme).toEqual({ ...vector.scheme, orderKey: 'partner' });
    },
  );

  it('that was forged has not the scheme of which it was forged', () => {
    const forged = vectors.filter((vector) => vector.expect === 'invalid').slice(0, 10);
    for (const { scheme, sentText, purpose, ...keys } of forged)
      expect(fittingSchemes(sentText, keys, purpose)).not.toContainEqual(scheme);
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
    expect(fittingSchemes(Buffer.from(file), vector)).toEqual([vector.scheme]);
  });
});

describe('the signed probe has one scheme only', () => {
  const forms = allFormRules();
  const texts = allTextRules();
  // Each combination of form and text, with every encoding in turn; with one secret the search is short.
  const bodies = forms.flatMap((form, place) =>
    texts.map((text, other) => {
      const encoding = schemeParts.encoding[(place + other) % schemeParts.encoding.length] ?? 'hex';
      return composeScheme({ form, text, key: {}, encoding });
    }),
  );

  it.each(forms)('$construction $separator', ({ construction, separator }) => {
    const inForm = bodies.filter(
      (scheme) => scheme.construction === construction && scheme.separator === separator,
    );
    for (const scheme of some(inForm, 4)) {
      const sample = signedUnder(scheme, { text: probe, purpose: 'general' });
      const { partnerSecretKey } = secrets;
      expect(fittingSchemes(sample, { partnerSecretKey }, 'general')).toEqual([scheme]);
    }
  });

  it.each(some(allKeyRules('order'), 6))('key $orderKey $keySeparator', (key) => {
    const index = allKeyRules('order').findIndex((rule) => JSON.stringify(rule) === JSON.stringify(key));
    const form = forms[index % forms.length];
    const text = texts[(index * 7) % texts.length];
    if (form === undefined || text === undefined) throw new Error('There are no rules.');
    const scheme = composeScheme({ form, text, key, encoding: 'base64-hex' });
    expect(fittingSchemes(signedUnder(scheme, { text: probe }), secrets)).toEqual([scheme]);
  });
});

describe('what signBody signs', () => {
  it.each(schemeParts.serialization.map((serialization) => ({ ...hmac, serialization })))(
    'is among the schemes that fit: $serialization',
    (scheme) => {
      const { partnerSecretKey } = secrets;
      const { text } = signBody(JSON.parse(probe), { key: partnerSecretKey, scheme });
      // What signBody posts has no white space.
      const { likeUnspaced: serialization = scheme.serialization } = serializationRules(scheme.serialization);
      expect(fittingSchemes(text, { partnerSecretKey }, 'general')).toContainEqual({
        ...scheme,
        serialization,
      });
    },
  );
});

describe('a body that cannot tell schemes apart', () => {
  it('fits all of them, the text as sent first', () => {
    expect(fittingSchemes(signedUnder(hmac), secrets)).toEqual([hmac, { ...hmac, serialization: 'compact' }]);
  });

  it('fits nearly every serialisation if it has no members', () => {
    const schemes = fittingSchemes(signedUnder(hmac, { text: '{}' }), secrets);
    expect(schemes[0]).toEqual(hmac);
    expect(schemes.length).toBeGreaterThan(4);
  });
});

describe('several bodies', () => {
  const schemeOf = async (...bodies: readonly string[]) => {
    const { deployment } = await learn({
      deliveries: bodies.map((body) => ({ body })),
      credentials: secrets,
    });
    return defineDeployment(deployment).signature;
  };
  it('tell apart what the first leaves open, in either order', async () => {
    const compact = { ...hmac, serialization: 'compact' } as const;
    const open = signedUnder(compact);
    const telling = signedUnder(compact, { text: '{"fiat_amount":10.0}' });
    const { rows, findings } = await learn({ deliveries: [{ body: open }], credentials: secrets });
    expect(rows.find(({ id }) => id === 'signature-serialization')?.verdict).toBe('not-seen');
    const what = expect.stringMatching(/differ in serialization.*"serialization":"as-sent"/);
    expect(findings).toMatchObject([{ id: 'scheme-open', verdict: 'weak', what }]);
    expect(await schemeOf(open, telling)).toEqual(compact);
    expect(await schemeOf(telling, open)).toEqual(compact);
  });

  it('are as sent where white space alone could tell them from minified, which a body with some can be', async () => {
    const minified = { ...hmac, serialization: 'minified' } as const;
    const text = '{"fiat_amount":10.0,"a":"\\u00C9/"}';
    const other = text.replace('10.0', '20.0');
    const spaced = signedUnder(minified, { text: other }).replace('{', '{ ').replace(',', ', ');
    expect(await schemeOf(signedUnder(hmac, { text }))).toEqual(hmac);
    expect(await schemeOf(signedUnder(hmac, { text }), spaced)).toEqual(minified);
  });
});

it.each<[boolean, Partial<SignatureScheme>]>([
  [false, {}],
  [true, { construction: 'hash-prefix' }],
  [true, { serialization: 'values', joiner: '|' }],
  [true, { serialization: 'sorted' }],
])('learn says %j that the scheme is weak: %j', async (isWeak, part) => {
  const body = signedUnder({ ...hmac, ...part }, { text: '{"b":1,"a":2.0}' });
  const { findings } = await learn({ deliveries: [{ body }], credentials: secrets });
  expect(findings.some(({ id }) => id === 'scheme-weak')).toBe(isWeak);
});

describe('a search', () => {
  it('reads the secrets of credentials that do not show them', () => {
    const hidden = Object.defineProperties({}, Object.getOwnPropertyDescriptors(secrets));
    for (const name of Object.keys(secrets)) Object.defineProperty(hidden, name, { enumerable: false });
    expect(fittingSchemes(signedUnder(hmac), hidden)).toHaveLength(2);
  });

  it('works with any one secret', () => {
    const { merchantSecretKey } = secrets;
    const scheme = { ...hmac, orderKey: 'merchant' } as const;
    expect(fittingSchemes(signedUnder(scheme), { merchantSecretKey })[0]).toEqual(scheme);
  });

  it('takes bytes', () => {
    expect(fittingSchemes(new TextEncoder().encode(signedUnder(hash, short)), secrets)[0]).toEqual(
      fittingSchemes(signedUnder(hash, short), secrets)[0],
    );
  });
});
