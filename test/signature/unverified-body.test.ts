import { expect, it } from 'vitest';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { readUnverifiedBody, signedText } from '../../src/signature/verify-body.ts';
import * as bodies from '../support/bodies.ts';

it('a body is signed with its key and with no other', () => {
  const { hmacHex } = bodies;
  const body = readUnverifiedBody(bodies.signedText('{"a":1}', hmacHex('{"a":1}', 'one')), defaultScheme);
  expect(signedText('one', body, defaultScheme)).toBe('{"a":1}');
  expect(signedText('two', body, defaultScheme)).toBeUndefined();
});
