import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { callback, place, post, refusal, regenerate } from '../support.ts';

describe('fixed partners', () => {
  const credentials = {
    partnerPublicKey: 'pk_partner_fixed',
    partnerSecretKey: 'sk_partner_fixed',
    merchantSecretKey: 'fixed-merchant',
    partnerCode: 'fixed',
    partnerId: 'partner-fixed',
  };

  it('can order at once, and regenerate like all others', async () => {
    const email = 'fixed@acme.example';
    const sandbox = createSandbox({
      partners: [{ email, credentials }],
      fetch: callback().fetch,
      whitelist: 'off',
    });
    expect((await place(sandbox, credentials)).status).toBe(200);
    expect((await regenerate(sandbox, credentials, { partner_code: 'fixed', email })).status).toBe(200);
    expect(await refusal(post(sandbox, 'onboard', { partner_code: 'fixed', email }))).toEqual([
      409,
      'partner_exists',
    ]);
    expect(sandbox.openLink(sandbox.emails[0]?.link ?? '').partnerId).toBe('partner-fixed');
    await sandbox.reset();
    expect((await place(sandbox, credentials)).status).toBe(200);
  });

  it.each([
    ['no merchant secret', [{ credentials: { ...credentials, merchantSecretKey: undefined } }]],
    ['no code', [{ credentials: { ...credentials, partnerCode: undefined } }]],
    ['a swapped key', [{ credentials: { ...credentials, partnerSecretKey: 'pk_partner_x' } }]],
    [
      'two with one code',
      [{ credentials }, { credentials: { ...credentials, partnerPublicKey: 'pk_partner_2' } }],
    ],
    ['an unknown name', [{ credentials, mail: 'x' }]],
  ])('with %s are refused', (_, partners) => {
    // @ts-expect-error: wrong on purpose
    expect(() => createSandbox({ partners })).toThrow(expect.toSatisfy(isConfigurationError));
  });
});
