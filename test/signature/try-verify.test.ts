import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors/errors.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { tryVerify } from '../../src/signature/try-verify.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';

const { text } = signBody({ event_name: 'event.buy.init' }, { key: 'right' });

describe('tryVerify', () => {
  it('returns what verifyBody returns for an authentic body', () => {
    const verdict = tryVerify(text, ['wrong', 'right'], defaultScheme);
    expect(verdict).toEqual(verifyBody(text, { key: ['wrong', 'right'] }));
    expect(verdict).toMatchObject({ keyIndex: 1 });
  });

  it.each([
    ['signature_mismatch', text.replace('init', 'paid')],
    ['signature_missing', '{}'],
    ['body_not_json', 'not JSON'],
  ])('returns the refusal %s in place of a value', (code, body) => {
    const { refusal, value } = tryVerify(body, ['right'], defaultScheme);
    expect(refusal?.code).toBe(code);
    expect(value).toBeUndefined();
  });

  it('throws for missing keys, which are no fault of the body', () => {
    expect(() => tryVerify(text, [], defaultScheme)).toThrow(ConfigurationError);
  });
});
