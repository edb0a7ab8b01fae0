import { describe, expect, it } from 'vitest';
import { allFormRules, makeKey } from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { fittingSchemes } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { probe } from '../../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { tryVerify } from '../../../../src/devtools/diagnostics/try-verify.ts';
import { type SignatureScheme, schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { eventText, secrets, signedUnder } from '../support.ts';

/** How a file can hold a body. */
const captures: Readonly<Record<string, (body: string) => string>> = {
  'as it came': (body) => body,
  'with a line feed behind it': (body) => `${body}\n`,
  'with a Windows line break behind it': (body) => `${body}\r\n`,
  'behind a byte order mark': (body) => `\uFEFF${body}`,
  'with blanks around it': (body) => ` \t${body} \n\n`,
  'printed prettily': (body) => `${JSON.stringify(JSON.parse(body), null, 2)}\n`,
};

const forms = allFormRules();
const schemes = schemeParts.serialization.flatMap((serialization, index): SignatureScheme[] =>
  [0, 1].map((shift) => ({
    ...(forms[(5 * index + shift) % forms.length] ?? { construction: 'hmac' }),
    serialization,
    encoding: schemeParts.encoding[(index + shift) % schemeParts.encoding.length] ?? 'hex',
  })),
);

function refusalOf(body: string, scheme: SignatureScheme) {
  return tryVerify(body, [makeKey(secrets, scheme, 'order') ?? ''], scheme).refusal;
}

describe.each(Object.entries(captures))('a body that was captured %s', (name, captured) => {
  it.each(schemes)('is found signed only as a receiver verifies it: %j', async (scheme) => {
    for (const text of [eventText, probe]) {
      const original = signedUnder(scheme, { text });
      const body = captured(original);
      const schemes = fittingSchemes(body, secrets);
      expect(schemes.filter((fitting) => refusalOf(body, fitting) !== undefined)).toEqual([]);
      if (name !== 'printed prettily') expect(schemes).toEqual(fittingSchemes(original, secrets));
    }
  });
});

it.each(Object.entries(captures).slice(0, -1))(
  'events captured %s leave the deployment as it is assumed',
  async (_, captured) => {
    const scheme = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
    const body = captured(signedUnder(scheme, { text: eventText }));
    const partner = { ...secrets, partnerCode: 'acme' };
    const { deployment, deliveries } = await learn({ deliveries: [{ body }], credentials: partner });
    expect({ deployment, deliveries }).toEqual({ deployment: {}, deliveries: { genuine: 1, others: 0 } });
    expect(refusalOf(signedUnder(scheme, { text: '{"fiat_amount":10.0}' }), scheme)).toBeUndefined();
  },
);
