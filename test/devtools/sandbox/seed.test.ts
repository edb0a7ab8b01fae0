import { expect, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { onboarded } from './support.ts';

const masterKey = 'master_cf0f126f316a71d0b9d20675bef069012bacbda546d3dd67';
const keys = {
  partnerPublicKey: 'pk_partner_39411cf1feacd5df0ebfa054f45e8ff90fcf2b0b0a10447d',
  partnerSecretKey: 'sk_partner_bb463c119876b159c830628f8a0607a32c7e13e8446adbc7',
  merchantSecretKey: 'sk_merchant_dd3764b5c600d0bce4df2a832f806e5bd5efaac7cf768f2b',
};

it('a sandbox gives the same keys for a seed in every version', async () => {
  const sandbox = createSandbox({ seed: 7 });
  expect(sandbox.masterKey).toBe(masterKey);
  expect(await onboarded(sandbox)).toMatchObject(keys);
  await sandbox.reset();
  expect(sandbox.masterKey).toBe(masterKey);
  expect(await onboarded(sandbox)).toMatchObject(keys);
});
