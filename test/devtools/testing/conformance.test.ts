import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { orderEventNames } from '../../../src/events/event-names.ts';
import { parseOrderEvent } from '../../../src/events/parse-order-event.ts';
import { schemeParts } from '../../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { refusal } from '../../support/refusal.ts';
import { type ConformanceVector, readConformanceVectors, vectorsFile } from './conformance.ts';

const { vectors } = readConformanceVectors();
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

describe('the vectors', () => {
  it('have the form that their schema describes', () => {
    const schema = z.fromJSONSchema(
      JSON.parse(readFileSync(new URL('signatures.schema.json', vectorsFile), 'utf8')),
    );
    const file: { vectors: object[] } = JSON.parse(readFileSync(vectorsFile, 'utf8'));
    expect(schema.safeParse(file).error).toBeUndefined();
    const unknown = [{ ...file.vectors[0], expect: 'maybe' }];
    expect(schema.safeParse({ ...file, vectors: unknown }).success).toBe(false);
    // What the schema cannot say in a form that every validator knows.
    expect(file.vectors.every((vector) => 'body' in vector !== 'bodyBase64' in vector)).toBe(true);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
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
});
