import { expect, it } from 'vitest';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { isSignedWith, readUnverifiedBody } from '../../src/signature/verify-body.ts';
import { hmacHex, signedText } from '../support/bodies.ts';

const signedWith = (key: string) =>
  readUnverifiedBody(signedText('{"a":1}', hmacHex('{"a":1}', key)), defaultScheme);

it('a body is signed with its key and with no other', () => {
  expect(isSignedWith('one', signedWith('one'), defaultScheme)).toBe(true);
  expect(isSignedWith('two', signedWith('one'), defaultScheme)).toBe(false);
});

it('a body that anybody could sign, with an empty key, is signed with none', () => {
  expect(isSignedWith('', signedWith(''), defaultScheme)).toBe(false);
  expect(isSignedWith(undefined, signedWith(''), defaultScheme)).toBe(false);
});
