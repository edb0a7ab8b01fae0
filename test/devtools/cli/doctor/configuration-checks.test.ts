import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  examineEnvironment,
  examineExampleAddresses,
  examineKeys,
  examineNames,
} from '../../../../src/devtools/cli/commands/doctor/configuration-checks.ts';
import { examineDeploymentFile } from '../../../../src/devtools/cli/commands/doctor/stored.ts';
import type { Result, Surroundings } from '../../../../src/devtools/cli/commands/doctor/surroundings.ts';
import { defaultScheme } from '../../../../src/signature/signature-scheme.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { surroundingsOf } from './surroundings.ts';

const examined = (
  examine: (surroundings: Surroundings) => readonly Result[],
  env: Record<string, string> = {},
) => examine(surroundingsOf({ env }))[0];

const keys = {
  PARTNER_PUBLIC_KEY: 'pk_partner_4b1d8f60a2c79e35',
  PARTNER_SECRET_KEY: 'sk_partner_9f27c04e8ab1d653',
  MERCHANT_SECRET_KEY: 'sk_merchant_e60d1b72f5934a8c',
};

describe('the doctor says of the environment', () => {
  it('which variables are set, without their values', () => {
    const check = examined(examineEnvironment, {
      ...keys,
      MERCHANT_SECRET_KEY_NGN: 'sk_merchant_1',
      HOME: '/',
    });
    expect(check).toMatchObject({
      verdict: 'ok',
      what: `Set: ${Object.keys(keys).join(', ')}, MERCHANT_SECRET_KEY_NGN.`,
    });
  });

  it('that nothing is set', () => {
    expect(examined(examineEnvironment)).toMatchObject({ verdict: 'skipped' });
  });

  it('which variable is malformed', () => {
    const env = { ...keys, PARTNER_SECRET_KEY: `${keys.PARTNER_SECRET_KEY} ` };
    const check = examined(examineEnvironment, env);
    expect(check).toMatchObject({
      verdict: 'broken',
      what: expect.stringMatching(/^PARTNER_SECRET_KEY.*blanks/),
    });
    expect(JSON.stringify(check)).not.toContain(keys.PARTNER_SECRET_KEY);
  });

  it.each([
    ['a name of ours', { PARTNER_EXCHANGE_STAGNG_URL: 'x' }, 'broken', /PARTNER_EXCHANGE_STAGING_URL is/],
    ['a name that may be of another program', { PARTNER_PUBLIC_KYE: 'x' }, 'weak', /PARTNER_PUBLIC_KEY is/],
    ['a name with our prefix that is unknown', { PARTNER_EXCHANGE_HOME: 'x' }, 'weak', /HOME is not read/],
    ['no such name', keys, 'ok', /Every name/],
  ])('%s that is misspelt', (_, env, status, found) => {
    const check = examined(examineNames, env);
    expect(check).toMatchObject({ verdict: status, what: expect.stringMatching(found) });
  });
});

describe('the doctor says of addresses', () => {
  it('which variable holds an example that nobody holds', () => {
    const env = { ...keys, TREASURY: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP' };
    const check = examined(examineExampleAddresses, env);
    expect(check).toMatchObject({
      verdict: 'weak',
      what: expect.stringMatching(/^TREASURY holds an example/),
    });
  });

  it('that none is an example', () => {
    const env = { ...keys, TREASURY: 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8' };
    expect(examined(examineExampleAddresses, env)).toMatchObject({ verdict: 'ok' });
  });
});

describe('the doctor says of the keys', () => {
  it.each<[string, Record<string, string>, string, RegExp]>([
    ['that they are there', keys, 'ok', /partnerSecretKey, merchantSecretKey, partnerPublicKey/],
    ['that there are none', {}, 'skipped', /no partner keys/],
    ['that they cannot be read', { PARTNER_PUBLIC_KEY: 'x' }, 'skipped', /cannot be read/],
    [
      'that one secret was pasted under two prefixes, and not that two keys are the same',
      { ...keys, MERCHANT_SECRET_KEY: keys.PARTNER_SECRET_KEY.replace('partner', 'merchant') },
      'weak',
      /partnerSecretKey and merchantSecretKey differ in their prefix alone/,
    ],
    [
      'that the same secret was pasted twice',
      { ...keys, MERCHANT_SECRET_KEY_NGN: keys.MERCHANT_SECRET_KEY },
      'broken',
      /merchantSecretKey and merchantSecretKeys\.NGN are the same/,
    ],
    [
      'that the master key is in the place of the API key',
      { ...keys, MESSENGER_API_KEY: 'abcabcabcabc', MESSENGER_MASTER_KEY: 'abcabcabcabc' },
      'broken',
      /apiKey and masterKey are the same/,
    ],
    [
      'that one is an example',
      { ...keys, PARTNER_SECRET_KEY: 'sk_partner_your_key_goes_here' },
      'weak',
      /partnerSecretKey looks like an example/,
    ],
    ['that one is short', { ...keys, MERCHANT_SECRET_KEY_NGN: 'sk_merchant_1' }, 'weak', /\.NGN looks like/],
    [
      'that a merchant is missing',
      { ...keys, MERCHANT_SECRET_KEY: '' },
      'weak',
      /no merchant secret: orders cannot/,
    ],
  ])('%s', (_, env, status, found) => {
    const check = examined(examineKeys, env);
    expect(check).toMatchObject({ verdict: status, what: expect.stringMatching(found) });
    for (const secret of Object.values(env).slice(1)) {
      if (secret.length > 9) expect(JSON.stringify(check)).not.toContain(secret);
    }
  });

  it('nothing of a merchant where the scheme needs none', () => {
    const PARTNER_EXCHANGE_SCHEME = JSON.stringify({ ...defaultScheme, orderKey: 'partner' });
    const env = { ...keys, MERCHANT_SECRET_KEY: '', PARTNER_EXCHANGE_SCHEME };
    expect(examined(examineKeys, env)).toMatchObject({ verdict: 'ok' });
  });
});

describe('the deployment file', () => {
  const row = (id: string, verdict: string) => ({ id, verdict, found: [] });
  const rows = [
    row('signature-key', 'proven'),
    row('order-reply', 'proven'),
    row('close-status', 'refuted'),
    row('signature-encoding', 'refuted'),
    row('errors', 'not-seen'),
  ];
  const overrides = [
    { row: 'signature-encoding', set: { signature: { ...defaultScheme, encoding: 'base64' } }, samples: 1 },
  ];
  const checked = (content: object) => {
    const path = join(scratchFolder(), 'deployment.json');
    writeFileSync(
      path,
      JSON.stringify({ format: 'partner-exchange-deployment/1', overrides, rows, ...content }),
    );
    return examined(examineDeploymentFile, { ...keys, PARTNER_EXCHANGE_DEPLOYMENT: path });
  };

  it('shows how many rows it proves, and which a person has to decide about', () => {
    const check = checked({});
    expect(check).toMatchObject({ verdict: 'weak', what: '2 rows proven, 2 refuted, 1 not seen.' });
    expect(check?.advice).toContain('Decide about close-status,');
  });

  it('is fine if data settles what it refutes', () => {
    expect(checked({ rows: rows.filter(({ id }) => id !== 'close-status') })).toMatchObject({
      verdict: 'ok',
      what: '2 rows proven, 1 refuted, 1 not seen.',
    });
  });

  it('is skipped where there is none', () => {
    expect(examined(examineDeploymentFile, keys)).toMatchObject({ verdict: 'skipped' });
  });
});
