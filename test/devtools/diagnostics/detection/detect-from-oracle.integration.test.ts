import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  detectFromOracle,
  probeBody,
  type SigningOracle,
} from '../../../../src/devtools/diagnostics/detection/detect-from-oracle.ts';
import { serializationRules } from '../../../../src/signature/serializations.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { type SignatureScheme, schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { closedUrl } from '../../../support/local-server.ts';
import { pythonStyle, withSignature } from '../support.ts';

const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const sign = (text: string, secret: string) => createHmac('sha512', secret).update(text).digest('hex');

describe('a signing function', () => {
  it('reveals its scheme', async () => {
    const { reply, verdict, survivors } = await detectFromOracle(async ({ body, secret }) =>
      sign(body, secret),
    );
    expect({ reply, verdict }).toEqual({ reply: 'signature', verdict: 'found' });
    expect(survivors.map(({ scheme }) => scheme)).toEqual([hmac]);
  });

  it('is given the probe and a secret of its own each time', async () => {
    const seen: { body: string; secret: string }[] = [];
    const oracle: SigningOracle = (request) => {
      seen.push(request);
      return sign(request.body, request.secret);
    };
    await detectFromOracle(oracle);
    await detectFromOracle(oracle);
    expect(seen.map(({ body }) => body)).toEqual([probeBody(), probeBody()]);
    expect(seen[0]?.secret).not.toBe(seen[1]?.secret);
  });

  it('may be given a secret that a test chooses', async () => {
    let given = '';
    await detectFromOracle(
      ({ secret }) => {
        given = secret;
        return '';
      },
      { random: (bytes) => new Uint8Array(bytes).fill(7) },
    );
    expect(given).toBe(`sk_partner_probe${'07'.repeat(18)}`);
  });

  // What a server does that parses the body with JavaScript: only what it writes again can be known.
  const parsing = schemeParts.serialization.flatMap((serialization) =>
    serializationRules(serialization).reads === 'text'
      ? []
      : schemeParts.encoding.map(
          (encoding): SignatureScheme => ({
            construction: 'hash-suffix',
            serialization,
            encoding,
            separator: '|',
          }),
        ),
  );

  it.each(parsing)('that parses the body reveals its scheme: $serialization $encoding', async (scheme) => {
    const { verdict, survivors } = await detectFromOracle(
      ({ body, secret }) => signBody(JSON.parse(body), { key: secret, scheme }).signature,
    );
    expect(verdict).toBe('found');
    expect(survivors[0]?.scheme).toEqual(scheme);
  });

  it('that parses the body with Python is a near miss of the numbers', async () => {
    const { verdict, nearMisses } = await detectFromOracle(({ body, secret }) =>
      sign(pythonStyle(body.replace('1e-7', '1e-07')), secret),
    );
    expect(verdict).toBe('none');
    expect(nearMisses).toMatchObject([
      { code: 'numbers-respelled', scheme: { ...hmac, serialization: 'python' }, samples: [0] },
    ]);
  });

  it.each([
    ['with a line feed behind it', (signature: string) => `${signature}\n`],
    ['as a JSON string', (signature: string) => JSON.stringify(signature)],
  ])('may return the signature %s', async (_, wrap) => {
    const { reply, verdict } = await detectFromOracle(({ body, secret }) => wrap(sign(body, secret)));
    expect({ reply, verdict }).toEqual({ reply: 'signature', verdict: 'found' });
  });

  it('may return the body with its signature', async () => {
    const { reply, verdict, survivors } = await detectFromOracle(({ body, secret }) =>
      withSignature(body, sign(body, secret)),
    );
    expect({ reply, verdict }).toEqual({ reply: 'signed-body', verdict: 'found' });
    expect(survivors[0]?.scheme).toEqual(hmac);
  });

  it('may return another body than the one it was given, signed as it stands', async () => {
    const { reply, survivors } = await detectFromOracle(({ body, secret }) => {
      const text = JSON.stringify({ received: JSON.parse(body) });
      return withSignature(text, sign(text, secret));
    });
    expect(reply).toBe('signed-body');
    expect(survivors[0]?.scheme).toEqual(hmac);
  });

  it.each([
    [
      'throws',
      () => {
        throw new TypeError('sk_partner_real_key');
      },
      'threw',
      'TypeError',
    ],
    ['rejects', () => Promise.reject(new Error('no')), 'threw', 'Error'],
    [
      'throws no error',
      () => {
        throw 'text';
      },
      'threw',
      'string',
    ],
    ['returns nothing', () => undefined, 'no-signature', 'undefined'],
    ['returns an empty text', () => '', 'no-signature', 'empty'],
    ['returns a page', () => '<html>Not found</html>', 'no-signature', '22 characters'],
    ['returns a number', () => 7, 'no-signature', 'number'],
    ['returns a body whose signature is none', () => '{"signature":7}', 'no-signature', 'characters'],
    ['returns the body as it is', ({ body }: { body: string }) => body, 'no-signature', 'characters'],
  ] as [string, SigningOracle, string, string][])(
    'that %s has a typed result',
    async (_, oracle, reply, words) => {
      const detection = await detectFromOracle(oracle);
      expect(detection).toMatchObject({ reply, verdict: 'unusable', survivors: [] });
      expect(detection.message).toContain(words);
      expect(detection.message).not.toContain('real_key');
    },
  );

  it('that cannot be reached is said to be so, with the code of the system and nothing else', async () => {
    const url = await closedUrl();
    const { reply, verdict, message } = await detectFromOracle(async ({ body }) => {
      return await (await fetch(url, { method: 'POST', body })).text();
    });
    expect({ reply, verdict }).toEqual({ reply: 'threw', verdict: 'unusable' });
    expect(message).toBe(
      'The signing endpoint was not reached (ECONNREFUSED): check its address, and whether it is up.',
    );
  });

  it('that signs something else is not found out', async () => {
    const { reply, verdict } = await detectFromOracle(({ secret }) => sign('{}', secret));
    expect({ reply, verdict }).toEqual({ reply: 'signature', verdict: 'none' });
  });
});
