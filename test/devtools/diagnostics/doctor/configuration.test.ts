import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../../../src/deployment/define-deployment.ts';
import {
  isInRange,
  oldestNode,
  peers,
} from '../../../../src/devtools/diagnostics/doctor/checks/installation.ts';
import { defaultScheme } from '../../../../src/signature/signature-scheme.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { examined } from './examined.ts';

const keys = {
  PARTNER_PUBLIC_KEY: 'pk_partner_4b1d8f60a2c79e35',
  PARTNER_SECRET_KEY: 'sk_partner_9f27c04e8ab1d653',
  MERCHANT_SECRET_KEY: 'sk_merchant_e60d1b72f5934a8c',
};
const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../package.json'), 'utf8'));

describe('the doctor says of the runtime', () => {
  it.each<[string, Record<string, string>, string, RegExp]>([
    ['a Node that is supported', { node: '24.21.0' }, 'ok', /^Node 24\.21\.0$/],
    ['the oldest one', { node: oldestNode }, 'ok', /^Node /],
    ['an older one', { node: '22.11.9' }, 'fail', /older than 22\.12\.0/],
    ['an older major version', { node: '20.19.4' }, 'fail', /older than/],
    ['Bun, whatever Node it imitates', { node: '20.0.0', bun: '1.4.5' }, 'ok', /^Bun 1\.4\.5$/],
    ['Deno', { node: '20.0.0', deno: '2.9.6' }, 'ok', /^Deno 2\.9\.6$/],
    ['one without a version', {}, 'skip', /does not tell/],
  ])('%s', async (_, versions, status, found) => {
    const check = await examined('runtime', {}, { versions });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  it('what package.json says', () => {
    expect(`>=${oldestNode}`).toBe(`${manifest.engines.node}.0`);
  });
});

describe('the doctor says of the environment', () => {
  it('which variables are set, without their values', async () => {
    const check = await examined('environment', {
      env: { ...keys, MERCHANT_SECRET_KEY_NGN: 'sk_merchant_1', HOME: '/' },
    });
    expect(check).toMatchObject({
      status: 'ok',
      found: `Set: ${Object.keys(keys).join(', ')}, MERCHANT_SECRET_KEY_NGN.`,
    });
  });

  it('that nothing is set', async () => {
    expect(await examined('environment')).toMatchObject({ status: 'skip' });
  });

  it('which variable is malformed', async () => {
    const env = { ...keys, PARTNER_SECRET_KEY: `${keys.PARTNER_SECRET_KEY} ` };
    const check = await examined('environment', { env });
    expect(check).toMatchObject({
      status: 'fail',
      found: expect.stringMatching(/^PARTNER_SECRET_KEY.*blanks/),
    });
    expect(JSON.stringify(check)).not.toContain(keys.PARTNER_SECRET_KEY);
  });

  it.each([
    ['a name of ours', { PARTNER_EXCHANGE_STAGNG_URL: 'x' }, 'fail', /PARTNER_EXCHANGE_STAGING_URL is/],
    ['a name that may be of another program', { PARTNER_PUBLIC_KYE: 'x' }, 'warn', /PARTNER_PUBLIC_KEY is/],
    ['a name with our prefix that is unknown', { PARTNER_EXCHANGE_HOME: 'x' }, 'warn', /HOME is not read/],
    ['no such name', keys, 'ok', /Every name/],
  ])('%s that is misspelt', async (_, env, status, found) => {
    const check = await examined('environment-names', { env });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
  });
});

describe('the doctor says of addresses', () => {
  it('which variable holds an example that nobody holds', async () => {
    const env = { ...keys, TREASURY: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP' };
    const check = await examined('example-address', { env });
    expect(check).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/^TREASURY holds an example/),
    });
  });

  it('that none is an example', async () => {
    const env = { ...keys, TREASURY: 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8' };
    expect(await examined('example-address', { env })).toMatchObject({ status: 'ok' });
  });
});

describe('the doctor says of the keys', () => {
  it.each<[string, Record<string, string>, string, RegExp]>([
    ['that they are there', keys, 'ok', /partnerSecretKey, merchantSecretKey, partnerPublicKey/],
    ['that there are none', {}, 'skip', /no partner keys/],
    ['that they cannot be read', { PARTNER_PUBLIC_KEY: 'x' }, 'skip', /cannot be read/],
    [
      'that one secret was pasted under two prefixes, and not that two keys are the same',
      { ...keys, MERCHANT_SECRET_KEY: keys.PARTNER_SECRET_KEY.replace('partner', 'merchant') },
      'warn',
      /partnerSecretKey and merchantSecretKey differ in their prefix alone/,
    ],
    [
      'that the same secret was pasted twice',
      { ...keys, MERCHANT_SECRET_KEY_NGN: keys.MERCHANT_SECRET_KEY },
      'fail',
      /merchantSecretKey and merchantSecretKeys\.NGN are the same/,
    ],
    [
      'that the master key is in the place of the API key',
      { ...keys, MESSENGER_API_KEY: 'abcabcabcabc', MESSENGER_MASTER_KEY: 'abcabcabcabc' },
      'fail',
      /apiKey and masterKey are the same/,
    ],
    [
      'that one is an example',
      { ...keys, PARTNER_SECRET_KEY: 'sk_partner_your_key_goes_here' },
      'warn',
      /partnerSecretKey looks like an example/,
    ],
    ['that one is short', { ...keys, MERCHANT_SECRET_KEY_NGN: 'sk_merchant_1' }, 'warn', /\.NGN looks like/],
    [
      'that a merchant is missing',
      { ...keys, MERCHANT_SECRET_KEY: '' },
      'warn',
      /no merchant secret: orders cannot/,
    ],
  ])('%s', async (_, env, status, found) => {
    const check = await examined('keys', { env });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
    for (const secret of Object.values(env).slice(1)) {
      if (secret.length > 9) expect(JSON.stringify(check)).not.toContain(secret);
    }
  });

  it('nothing of a merchant where the scheme needs none', async () => {
    const deployment = defineDeployment({ signature: { ...defaultScheme, orderKey: 'partner' } });
    const env = { ...keys, MERCHANT_SECRET_KEY: '' };
    expect(await examined('keys', { env, deployment })).toMatchObject({ status: 'ok' });
  });
});

describe('the doctor says of optional peers', () => {
  it('what package.json says', () => {
    const ranges = Object.entries(peers).map(([name, { range }]) => [name, range]);
    expect(Object.fromEntries(ranges)).toEqual(manifest.peerDependencies);
  });

  it.each([
    ['one in the range', '6.0.0', 'ok', /^ioredis 6\.0\.0$/],
    ['one that is too old', '5.2.4', 'fail', /not in the supported range/],
    ['one that is too new', '7.0.0', 'fail', /not in the supported range/],
  ])('%s', async (_, version, status, found) => {
    const projectFolder = installed('ioredis', JSON.stringify({ version }));
    const check = await examined('peer-ioredis', { projectFolder });
    expect(check).toMatchObject({ status, found: expect.stringMatching(found) });
  });

  it('one that is not installed, or damaged', async () => {
    const projectFolder = installed('ioredis', 'not JSON');
    expect(await examined('peer-ioredis', { projectFolder })).toMatchObject({ status: 'skip' });
    expect(await examined('peer-pg', { projectFolder })).toMatchObject({ status: 'skip' });
  });

  it.each([
    ['5.2.5', true],
    ['5.100.0', true],
    ['5.2.4', false],
    ['6.0.0', true],
    ['6.0.0-beta.1', false],
    ['16.0.0', false],
    ['6', false],
    ['', false],
  ])('that %j is in a range: %j', (version, expected) => {
    expect(isInRange(version, '^5.2.5 || ^6.0.0')).toBe(expected);
  });
});

function installed(name: string, manifestText: string): string {
  const folder = scratchFolder();

  mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  mkdirSync(join(folder, 'packages', 'app'), { recursive: true });
  writeFileSync(join(folder, 'node_modules', name, 'package.json'), manifestText);
  return join(folder, 'packages', 'app');
}

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
    return examined('learnt-assumptions', { env: { ...keys, PARTNER_EXCHANGE_DEPLOYMENT: path } });
  };

  it('shows how many rows it proves, and which a person has to decide about', async () => {
    const check = await checked({});
    expect(check).toMatchObject({ status: 'warn', found: '2 rows proven, 2 refuted, 1 not seen.' });
    expect(check?.fix).toContain('Decide about close-status,');
  });

  it('is fine if data settles what it refutes', async () => {
    expect(await checked({ rows: rows.filter(({ id }) => id !== 'close-status') })).toMatchObject({
      status: 'ok',
      found: '2 rows proven, 1 refuted, 1 not seen.',
    });
  });

  it('is skipped where there is none', async () => {
    expect(await examined('learnt-assumptions', { env: keys })).toMatchObject({ status: 'skip' });
  });
});
