import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { partnerExchange } from './run-in-process.ts';
import { scratchFolder } from './support.ts';

/** A simulated service, and what commands need to reach it. */
export function service(given: SandboxOptions = {}) {
  const sandbox = createSandbox(given);
  onTestFinished(() => sandbox.close());
  const { onboardingBaseUrl, stagingUrl, messengerBaseUrl } = sandbox.deployment;
  const env = {
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: onboardingBaseUrl,
    PARTNER_EXCHANGE_STAGING_URL: stagingUrl,
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: messengerBaseUrl,
    MESSENGER_MASTER_KEY: sandbox.masterKey,
  };
  // Sound: the client gives a Request, or an address and its options.
  return { sandbox, options: { env, fetch: sandbox.fetch as typeof fetch } };
}

/** The same with a partner who has keys, on a machine that is whitelisted. */
export async function partnerService(given: SandboxOptions = {}) {
  const { sandbox, options } = service(given);
  await partnerExchange(['onboard', '--partner-code', 'acme', '--email', 'dev@acme.example'], options);
  await partnerExchange(['whitelist-ip'], options);
  return { sandbox, options, credentials: sandbox.openLink(sandbox.emails[0]?.link ?? '') };
}

/** The same with the key of a device, which is not paired yet. */
export async function deviceService(given: SandboxOptions = {}) {
  const { sandbox, options } = service(given);
  const cwd = scratchFolder();
  await partnerExchange(['messenger', 'key', '1001', '--save', 'key.json'], { ...options, cwd });
  const apiKey = String(JSON.parse(readFileSync(join(cwd, 'key.json'), 'utf8')).api_key);
  const env = { ...options.env, MESSENGER_API_KEY: apiKey };
  const pair = () =>
    sandbox.fetch(`${env.PARTNER_EXCHANGE_MESSENGER_BASE_URL}/connect-msg/scan-device?api_key=${apiKey}`);
  return { sandbox, cwd, apiKey, pair, options: { ...options, cwd, env } };
}
