import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import {
  askOracle,
  probe,
  type SigningOracle,
} from '../../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { learn } from '../../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { serializationRules } from '../../../../src/signature/serializations.ts';
import { signBody } from '../../../../src/signature/sign-body.ts';
import { type SignatureScheme, schemeParts } from '../../../../src/signature/signature-scheme.ts';
import { orderKey, pythonStyle, secrets, withSignature } from '../support.ts';

const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const sign = (text: string, secret: string) => createHmac('sha512', secret).update(text).digest('hex');

const ask = async (oracle: SigningOracle) => {
  const { schemes, findings } = await askOracle(oracle, hmac);
  return { schemes, findings };
};

describe('a signing function', () => {
  it('reveals its scheme', async () => {
    expect(await ask(({ body, secret }) => sign(body, secret))).toEqual({ schemes: [hmac], findings: [] });
  });

  it('is given the probe and a secret of its own each time', async () => {
    const seen: { body: string; secret: string }[] = [];
    const oracle: SigningOracle = (request) => {
      seen.push(request);
      return sign(request.body, request.secret);
    };
    await ask(oracle);
    await ask(oracle);
    expect(seen.map(({ body }) => body)).toEqual([probe, probe]);
    expect(seen[0]?.secret).not.toBe(seen[1]?.secret);
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
    const { schemes } = await ask(
      ({ body, secret }) => signBody(JSON.parse(body), { key: secret, scheme }).signature,
    );
    expect(schemes).toEqual([scheme]);
  });

  it('that parses the body with Python reveals its scheme', async () => {
    const { schemes } = await ask(({ body, secret }) => sign(pythonStyle(body), secret));
    expect(schemes).toMatchObject([{ serialization: 'python' }]);
  });

  it.each([
    ['the signature with a line feed behind it', (body: string, secret: string) => `${sign(body, secret)}\n`],
    ['the signature as a JSON string', (body: string, secret: string) => JSON.stringify(sign(body, secret))],
    [
      'the body with its signature',
      (body: string, secret: string) => withSignature(body, sign(body, secret)),
    ],
    [
      'another body than the one it was given, signed as it stands',
      (body: string, secret: string) => {
        const text = JSON.stringify({ received: JSON.parse(body) });
        return withSignature(text, sign(text, secret));
      },
    ],
  ])('may return %s', async (_, reply) => {
    const { schemes } = await ask(({ body, secret }) => reply(body, secret));
    expect(schemes[0]).toEqual(hmac);
  });

  it.each([
    ['nothing', () => undefined, 'undefined'],
    ['an empty text', () => '', 'empty'],
    ['a page', () => '<html>Not found</html>', '22 characters'],
    ['a number', () => 7, 'number'],
    ['a body whose signature is none', () => '{"signature":7}', 'characters'],
    ['the body as it is', ({ body }: { body: string }) => body, 'characters'],
  ] as [string, SigningOracle, string][])('that returns %s is a finding', async (_, oracle, words) => {
    const { schemes, findings } = await ask(oracle);
    expect(schemes).toEqual([]);
    expect(findings).toMatchObject([{ id: 'oracle-unsigned', what: expect.stringContaining(words) }]);
  });

  it('that signs something else fits nothing', async () => {
    const { schemes, findings } = await ask(({ secret }) => sign('{}', secret));
    expect({ schemes, ids: findings.map(({ id }) => id) }).toEqual({ schemes: [], ids: ['nothing-fits'] });
  });
});

describe('learn with an oracle', () => {
  const base64: SigningOracle = ({ body, secret }) =>
    createHmac('sha512', secret).update(body).digest('base64');

  it('settles how bodies are signed, and nothing of the key for orders', async () => {
    const { rows, deployment } = await learn({ oracle: base64 });
    const verdicts = rows.flatMap(({ id, verdict }) => (verdict === 'not-seen' ? [] : [[id, verdict]]));
    expect(verdicts).toEqual([
      ['signature-construction', 'proven'],
      ['signature-serialization', 'proven'],
      ['signature-encoding', 'refuted'],
    ]);
    expect(deployment).toEqual({ signature: { ...hmac, encoding: 'base64' } });
  });

  it('keeps the key for orders that is configured', async () => {
    const signature: SignatureScheme = { ...hmac, orderKey: 'partner' };
    const { deployment } = await learn({ oracle: base64, deployment: defineDeployment({ signature }) });
    expect(deployment).toEqual({ signature: { ...signature, encoding: 'base64' } });
  });

  it('believes the events where there are some', async () => {
    const body = withSignature(probe, sign(probe, orderKey));
    const { deployment } = await learn({ oracle: base64, deliveries: [{ body }], credentials: secrets });
    expect(deployment).toEqual({});
  });

  it('rejects with what the oracle throws', async () => {
    const failure = new TypeError('no network');
    await expect(learn({ oracle: () => Promise.reject(failure) })).rejects.toBe(failure);
  });
});
