import { expect, it } from 'vitest';
import { unsetVariables } from '../../src/credentials/unset-variables.ts';
import { credentialVariables } from '../../src/deployment/environment-variables.ts';

it.each<[object, string]>([
  [{}, 'PARTNER_PUBLIC_KEY and PARTNER_SECRET_KEY are not set'],
  [{ PARTNER_PUBLIC_KEY: 'pk_partner_1', PARTNER_SECRET_KEY: '' }, 'PARTNER_SECRET_KEY is not set'],
  [{ PARTNER_SECRET_KEY: 'sk_partner_1' }, 'PARTNER_PUBLIC_KEY is not set'],
  [
    { PARTNER_PUBLIC_KEY: 'pk_partner_1', PARTNER_SECRET_KEY: 'sk_partner_1' },
    'returns them as `credentials`',
  ],
])(
  'an error about missing credentials names the variables that are not set, and no value: %j',
  (env, words) => {
    expect(unsetVariables(env)).toContain(words);
    expect(unsetVariables(env)).not.toMatch(/_partner_1/);
  },
);

it('an error about missing credentials names variables that there are', () => {
  const known = credentialVariables.map(({ name }) => name);
  for (const name of unsetVariables({}).match(/\bPARTNER_\w+/g) ?? []) expect(known).toContain(name);
});
