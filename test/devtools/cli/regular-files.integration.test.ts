import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { signBody } from '../../../src/signature/sign-body.ts';
import { partnerCredentials } from '../../drawn/partner.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn } from './support.ts';

const env = {
  PARTNER_PUBLIC_KEY: partnerCredentials.partnerPublicKey,
  PARTNER_SECRET_KEY: partnerCredentials.partnerSecretKey,
  MERCHANT_SECRET_KEY: partnerCredentials.merchantSecretKey,
};
const event = signBody(buyInitBody({}), { key: signingKey(partnerCredentials, 'order') }).text;

function run(args: readonly string[], { cwd, more = {} }: { cwd: string; more?: Record<string, string> }) {
  return partnerExchange(args, { env: { ...env, ...more }, cwd });
}

describe.skipIf(process.platform === 'win32')('a FIFO, which nobody writes into', () => {
  const folder = () => {
    const cwd = filesIn({ 'event.json': event });
    spawnSync('mkfifo', ['pipe.json', 'pipe.jsonl', 'pipe.csv'], { cwd });
    return cwd;
  };
  const refused = 'is not a regular file';

  it('in a folder is left out by learn, and the rest is read', async () => {
    const { code, stdout, stderr } = await run(['learn', '.', '--format', 'json'], { cwd: folder() });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).deliveries).toEqual({ genuine: 1, others: 0 });
    for (const name of ['pipe.json', 'pipe.jsonl'])
      expect(stderr).toContain(`${name} was left out: ${name} ${refused}`);
  });

  it.each([
    [['verify', '.'], 2],
    [['verify', 'pipe.json'], 2],
    [['replay', 'pipe.json', '--to', 'http://127.0.0.1:1'], 1],
    [['sign', 'pipe.json'], 2],
    [['learn', '.', '--check', 'pipe.json'], 2],
    [['learn', 'event.json', '--write', 'pipe.json'], 2],
  ])('is named and not waited for: %j', async (args, expected) => {
    const { code, stdout, stderr } = await run(args, { cwd: folder() });
    expect({ code, output: stdout + stderr }).toEqual({
      code: expected,
      output: expect.stringContaining(refused),
    });
  });

  it('is no deployment file of the environment', async () => {
    const cwd = folder();
    const more = { PARTNER_EXCHANGE_DEPLOYMENT: join(cwd, 'pipe.json') };
    const { code, stderr } = await run(['verify', 'event.json'], { cwd, more });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('not a regular file') });
  });
});

describe.skipIf(process.platform === 'win32')('learn --write', () => {
  it('follows no link that was planted under another name, and writes for its owner alone', async () => {
    const cwd = filesIn({ 'event.json': event, victim: 'of somebody else' });
    symlinkSync(join(cwd, 'victim'), join(cwd, 'deployment.json.tmp'));
    const { code } = await run(['learn', 'event.json', '--write', 'deployment.json'], { cwd });
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, 'victim'), 'utf8')).toBe('of somebody else');
    expect(statSync(join(cwd, 'deployment.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(cwd).sort()).toEqual([
      'deployment.json',
      'deployment.json.tmp',
      'event.json',
      'victim',
    ]);
  });
});
