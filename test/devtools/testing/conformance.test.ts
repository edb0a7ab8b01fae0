import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { orderEventNames } from '../../../src/events/event-names.ts';
import { parseOrderEvent } from '../../../src/events/parse-order-event.ts';
import { schemeParts } from '../../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { refusal, thrownBy } from '../../support/refusal.ts';
import { type ConformanceVector, readConformanceVectors, vectorsFile } from './conformance.ts';

const { vectors, defaults } = readConformanceVectors();
const accepted = vectors.filter((vector) => vector.expect === 'accept');
const refused = vectors.filter((vector) => vector.expect === 'refuse');

function verify({ bytes, scheme, credentials, purpose }: ConformanceVector) {
  return verifyBody(bytes, { scheme, key: signingKey(credentials, purpose, { scheme }) });
}

describe('verifyBody', () => {
  it('accepts each body that every receiver has to accept, and the signed text is the same', () => {
    const texts = accepted.map((vector) => [vector.name, verify(vector).text]);
    expect(texts).toEqual(accepted.map(({ name, signed }) => [name, signed]));
  });

  it('refuses each body that every receiver has to refuse', () => {
    const errors = refused.map((vector) => [vector.name, refusal(() => verify(vector)).split(' ')[0]]);
    const errorOf = ({ credentials }: ConformanceVector) =>
      credentials.partnerSecretKey === '' ? 'ConfigurationError' : 'SignatureError';
    expect(errors).toEqual(refused.map((vector) => [vector.name, errorOf(vector)]));
  });
});

describe('a receiver whose variables are empty', () => {
  it.each(['partnerSecretKey', 'merchantSecretKey'])('does not start without its %s', (member) => {
    const credentials = { ...defaults.credentials, [member]: '' };
    expect(thrownBy(() => createWebhooks({ credentials }))).toHaveProperty('code', 'invalid_credentials');
  });
});

describe('the vectors', () => {
  it('have the form that their schema describes', () => {
    const schema = z.fromJSONSchema(
      JSON.parse(readFileSync(new URL('signatures.schema.json', vectorsFile), 'utf8')),
    );
    const file: { vectors: object[] } = JSON.parse(readFileSync(vectorsFile, 'utf8'));
    expect(schema.safeParse(file).error).toBeUndefined();
    expect(schema.safeParse({ ...file, vectors: [{ ...file.vectors[0], expect: 'maybe' }] }).success).toBe(
      false,
    );
    expect(schema.safeParse({ ...file, vectors: [{ ...file.vectors[0], bdy: '' }] }).success).toBe(false);
    // What the schema cannot say in a form that every validator knows.
    expect(file.vectors.every((vector) => 'body' in vector !== 'bodyBase64' in vector)).toBe(true);
    expect(
      file.vectors.every(
        (vector) => 'signed' in vector === ('expect' in vector && vector.expect === 'accept'),
      ),
    ).toBe(true);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  it('leave the package small', () => {
    expect(statSync(vectorsFile).size).toBeLessThan(300_000);
  });

  it('cover every part of a scheme, either purpose, and bodies to accept and to refuse', () => {
    const used = (part: 'construction' | 'serialization' | 'encoding' | 'orderKey') =>
      new Set(accepted.map(({ scheme }) => scheme[part] ?? 'merchant+partner'));
    for (const part of ['construction', 'serialization', 'encoding', 'orderKey'] as const) {
      expect([...used(part)].sort()).toEqual([...schemeParts[part]].sort());
    }
    const kinds = new Set(vectors.map(({ purpose, expect: expected }) => `${purpose} ${expected}`));
    expect(kinds.size).toBe(4);
    const tampered = new Set(refused.map(({ scheme }) => scheme.serialization));
    expect([...tampered].sort()).toEqual([...schemeParts.serialization].sort());
  });

  it('hold every published event, complete', () => {
    const events = vectors.filter(({ name }) => name.startsWith('event '));
    const names = events.map((vector) => {
      const parsed = parseOrderEvent(verify(vector).value);
      return parsed.kind === 'known' && parsed.event.event_name;
    });
    expect([...new Set(names)].sort()).toEqual([...orderEventNames].sort());
  });

  it('get 200, or 400 and 401, from a receiver with their keys, as docs/languages.md says', async () => {
    const webhooks = createWebhooks({
      credentials: defaults.credentials,
      deployment: defineDeployment({ signature: defaults.scheme }),
    }).onUnrecognized(() => {});
    const posted = vectors.filter(
      ({ scheme, credentials, purpose }) =>
        scheme === defaults.scheme && credentials === defaults.credentials && purpose === 'order',
    );
    expect(posted.length).toBeGreaterThan(130);
    for (const { name, bytes, expect: expected } of posted) {
      const request = new Request('https://partner.example/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Uint8Array(bytes),
      });
      const { status } = await webhooks.fetch(request);
      expect([name, status === 200 ? 'accept' : 'refuse']).toEqual([name, expected]);
      expect([200, 400, 401]).toContain(status);
    }
  });
});
