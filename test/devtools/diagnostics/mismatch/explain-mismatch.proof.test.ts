import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ExplainOptions,
  explainMismatch,
  type MismatchExplanation,
} from '../../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { refusedDeliveries } from '../../../../src/devtools/testing/signed-delivery.ts';
import type { SignatureScheme } from '../../../../src/signature/signature-scheme.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { refusal } from '../../../support/refusal.ts';
import { eventText, secrets, signedOver, signedUnder } from '../support.ts';

const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
/** The search tries each text with every key and form: one member gives few texts. */
const shortText = '{"partner_order_id":"A-1001"}';
const sample = signedUnder(hmac, { text: shortText });
const { partnerSecretKey, merchantSecretKey, partnerPublicKey } = secrets;
const older = {
  partnerPublicKey: 'pk_partner_0ld00000',
  partnerSecretKey: 'sk_partner_0ld11111',
  merchantSecretKey: 'sk_merchant_0ld22222',
};

const idsOf = (body: string, options: ExplainOptions) =>
  explainMismatch(body, options).findings.map(({ id }) => id);

describe('another key', () => {
  it.each([
    ['of another generation', { credentials: [older, secrets] }, 'credentials[1]'],
    [
      'of another merchant',
      {
        credentials: {
          partnerPublicKey,
          partnerSecretKey,
          merchantSecretKeys: { GHS: 'sk_merchant_other', NGN: merchantSecretKey },
        },
      },
      'credentials with merchantSecretKeys.NGN',
    ],
    [
      'of a named merchant, where the single one was used',
      { credentials: { ...older, merchantSecretKeys: { GHS: merchantSecretKey }, partnerSecretKey } },
      'credentials with merchantSecretKeys.GHS',
    ],
  ] as [string, ExplainOptions, string][])('is named: %s', (_, options, label) => {
    const { findings } = explainMismatch(sample, options);
    expect(findings).toMatchObject([{ id: 'other-key' }]);
    expect(findings[0]?.what).toContain(label);
  });

  it('is found together with another scheme', () => {
    expect(
      idsOf(signedUnder({ ...hmac, construction: 'hash-suffix' }, { text: shortText }), {
        credentials: [older, secrets],
      }),
    ).toEqual(['other-construction', 'other-key']);
  });

  it('is the key in another order', () => {
    expect(idsOf(signedUnder({ ...hmac, orderKey: 'partner+merchant' }), { credentials: secrets })).toEqual([
      'key-order',
    ]);
  });

  it('is the one for general requests', () => {
    const { findings } = explainMismatch(signedUnder({ ...hmac, orderKey: 'partner' }), {
      credentials: secrets,
    });
    expect(findings).toMatchObject([{ id: 'other-key-material' }]);
    expect(findings[0]?.what).toContain('general requests');
  });
});

describe('a body that anybody could sign', () => {
  const { forged } = refusedDeliveries(buyInitBody(), { credentials: secrets });

  it.each([
    ['the public key', forged.body],
    ['the public key twice', signedOver(shortText, shortText, partnerPublicKey + partnerPublicKey)],
    ['no key', signedOver(shortText, shortText, '')],
  ])('is called forged first, and nothing else is advised: signed with %s', (_, body) => {
    const { findings } = explainMismatch(body, { credentials: secrets });
    expect(findings.map(({ id }) => id)).toEqual(['forged']);
    expect(findings[0]?.what).toContain('a forgery');
    expect(findings[0]?.advice).toMatch(/^Refuse it/);
  });

  it.each(['partnerSecretKey', 'merchantSecretKey'])('is forged even if %s holds the public key', (name) => {
    const given = { ...secrets, [name]: partnerPublicKey };
    const scheme = { ...hmac, orderKey: name === 'partnerSecretKey' ? 'partner' : 'merchant' } as const;
    expect(idsOf(forged.body, { credentials: given, scheme })).toEqual(['forged']);
  });
});

describe('another scheme', () => {
  it.each([
    [{ ...hmac, construction: 'hash-suffix' }, ['other-construction']],
    [{ ...hmac, construction: 'hash-suffix', separator: '|' }, ['other-construction', 'other-separator']],
    [{ ...hmac, encoding: 'base64' }, ['other-encoding']],
    [{ ...hmac, encoding: 'hex-upper' }, ['other-encoding']],
    [{ ...hmac, keySeparator: ':' }, ['other-key-separator']],
    [
      { ...hmac, serialization: 'values', joiner: '|' },
      ['other-serialization', 'other-joiner', 'body-reserialized'],
    ],
    [{ ...hmac, serialization: 'python' }, ['other-serialization', 'body-reserialized']],
  ] as [SignatureScheme, string[]][])('is told part by part: %j', (scheme, ids) => {
    expect(idsOf(signedUnder(scheme), { credentials: secrets })).toEqual(ids);
  });

  it('is the closest of those that fit', () => {
    const configured = { ...hmac, construction: 'hash-suffix', serialization: 'compact' } as const;
    expect(idsOf(sample, { credentials: secrets, scheme: configured })).toEqual(['other-construction']);
  });

  it('that does not exist is refused', () => {
    const scheme = { ...hmac, construction: 'md5' } as never;
    expect(refusal(() => explainMismatch(sample, { credentials: secrets, scheme }))).toBe(
      'ConfigurationError invalid_scheme',
    );
  });
});

describe('a body that a framework wrote again', () => {
  it('is found out by the spelling that was signed', () => {
    const sent = JSON.stringify(JSON.parse(eventText), null, 2);
    const { findings } = explainMismatch(signedOver(eventText, sent), { credentials: secrets });
    expect(findings.map(({ id }) => id)).toEqual(['other-spelling']);
    expect(findings[0]?.advice).toContain('raw bytes');
  });

  it('is suspected when nothing fits and the text is as JSON.stringify writes', () => {
    const body = signedOver('{"amount":10,"id":"1"}', '{"amount":10.00,"id":"1"}');
    expect(idsOf(body, { credentials: secrets })).toEqual(['nothing-fits', 'body-reserialized']);
  });

  it('is not suspected when the text is as no JavaScript writes it', () => {
    const body = signedOver('{"amount":10.0,"id":"2"}', '{"amount":10.0,"id":"1"}');
    expect(idsOf(body, { credentials: secrets })).toEqual(['nothing-fits']);
  });
});

describe('an explanation', () => {
  const bodies = [
    sample,
    signedOver(shortText, shortText, 'another'),
    signedUnder({ ...hmac, serialization: 'php', encoding: 'base64' }),
    signedUnder({ ...hmac, orderKey: 'public+partner' }),
    eventText,
    '{"signature":"sk_partner_4f8a1c6e9b2d7035"}',
  ];
  const options: ExplainOptions[] = [
    { credentials: secrets },
    { credentials: [older, secrets] },
    { credentials: { ...secrets, partnerSecretKey: `${partnerSecretKey} ` } },
  ];

  it('of nothing wrong is a finding that is no acceptance', () => {
    const { findings } = explainMismatch(sample, { credentials: secrets });
    expect(findings).toMatchObject([{ id: 'no-mismatch' }]);
    expect(findings[0]?.what).toContain('no verification');
  });

  // Made once: some search for near misses.
  let explanations: MismatchExplanation[] = [];
  beforeAll(() => {
    explanations = bodies.flatMap((body) => options.map((each) => explainMismatch(body, each)));
  }, 60_000);

  it('always has a finding and what to do, and nothing that looks like a verified body', () => {
    for (const explanation of explanations) {
      expect(Object.keys(explanation).sort()).toEqual(['findings']);
      expect(explanation.findings.length).toBeGreaterThan(0);
      expect(explanation.findings.every(({ what, advice }) => what !== '' && advice !== '')).toBe(true);
      expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
    }
  });

  it('holds no piece of a secret, no signature and no value', () => {
    const texts = [...Object.values(secrets), ...Object.values(older)];
    // The prefixes are no secret, and messages name them.
    const pieces = texts.flatMap((secret) => windows(secret.slice(secret.lastIndexOf('_') + 1)));
    const values = ['A-1001', 'Ada', '0123456789', '15000'];
    expect(pieces.length).toBeGreaterThan(20);
    for (const explanation of explanations) {
      const printed = inspect(explanation, { depth: null, showHidden: true });
      for (const piece of [...pieces, ...values]) expect(printed).not.toContain(piece);
      expect(printed).not.toMatch(/[0-9a-f]{16}|[A-Za-z0-9+/_-]{60}/);
    }
  });
});

function windows(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - 7) }, (_, start) => text.slice(start, start + 8));
}
