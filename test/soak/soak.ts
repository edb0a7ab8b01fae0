import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ExchangeClient, MessengerClient } from 'partner-exchange-sdk';
import { createSandbox, type SandboxServer } from 'partner-exchange-sdk/sandbox';
import { planFaults } from '../support/fault-rates.ts';
import { hostileFaults } from '../support/hostile-faults.ts';
import { listening } from '../support/listening.ts';
import { startPrivate } from '../support/test-servers.ts';
import { startPartner } from './partner.ts';
import { type Engine, engines, partnerOf } from './plan.ts';
import { findGrowth, type Sample, takeSample } from './samples.ts';
import { writeSoakPage } from './soak-page.ts';
import { runTraffic } from './traffic.ts';

/*
 * `npm run prove -- soak [--minutes 30 --write]`: three partners of two processes each, over SQLite, Redis and PostgreSQL, at a
 * hostile service. Ends with 1 if something was lost or doubled, or if the memory, descriptors or files of the processes
 * that stay have grown. Otherwise `--write` writes docs/details/soak.md and its chart.
 */

const { values: flags } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, write: { type: 'boolean' } },
});
const minutes = Number(flags.minutes);
const betweenSamplesMs = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'soak-'));
const files = join(folder, 'sqlite');
mkdirSync(files);
const servers = await startPrivate(['redis', 'postgres']);
const sandbox = createSandbox({
  whitelist: 'off',
  duplicateOrders: 'second',
  oldKeysExpire: 'request',
  callbackRetry: { maxAttempts: 200, firstDelayMs: 200, maxDelayMs: 1_000 },
  maxRemembered: 100_000,
});
const service = await sandbox.listen();
const effects = new Map<string, number>();
const books = createServer((request, response) => {
  const order = request.url?.slice(1) ?? '';
  effects.set(order, (effects.get(order) ?? 0) + 1);
  response.end();
});

const apiKey = await pairDevice(service);
const shared = { books: await listening(books), apiKey, env: environmentOf(service) };
const addresses: Readonly<Record<Engine, string>> = {
  sqlite: files,
  redis: servers.urls.redis ?? '',
  postgres: servers.urls.postgres ?? '',
};
const partners = await Promise.all(
  engines.map((engine) => startPartner(engine, { ...shared, address: addresses[engine] })),
);
for (const partner of partners) {
  await new ExchangeClient({ deployment: service.deployment }).onboard(partnerOf(partner.engine));
  await partner.insist('receive', { keys: sandbox.openLink(sandbox.emails.at(-1)?.link ?? '') });
}
planFaults(sandbox.faults, hostileFaults);

const begun = performance.now();
const over = new AbortController();
const end = pause(minutes * 60_000).then(() => over.abort());
const samples: Sample[] = [];
const sampling = sample();
const figures = await Promise.all(
  partners.map((partner) => runTraffic(partner, { sandbox, effects }, over.signal)),
);
await Promise.all([end, sampling]);

console.table(Object.fromEntries(partners.map(({ engine }, index) => [engine, figures[index]])));
const growth = findGrowth(samples);
console.table(growth);
const isBroken = figures.some(({ lost, doubled }) => lost + doubled > 0);
if (isBroken || growth.some(({ isFlat }) => !isFlat)) process.exitCode = 1;
if (flags.write && process.exitCode !== 1)
  writeSoakPage({ minutes, cores: cpus().length, figures, samples, growth });

for (const partner of partners) await partner.end();
await service.close();
books.close();
await servers.stop();
rmSync(folder, { recursive: true, force: true });
process.exit();

async function sample(): Promise<void> {
  for (let count = 1; !over.signal.aborted; count++) {
    const now = (performance.now() - begun) / 60_000;
    samples.push(...(await Promise.all(partners.map((partner) => takeSample(partner, files, now)))));
    await pause(Math.max(0, begun + count * betweenSamplesMs - performance.now()));
  }
}

function environmentOf({ deployment }: SandboxServer): NodeJS.ProcessEnv {
  return {
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: deployment.onboardingBaseUrl,
    PARTNER_EXCHANGE_STAGING_URL: deployment.stagingUrl,
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: deployment.messengerBaseUrl,
  };
}

async function pairDevice({ deployment }: SandboxServer): Promise<string> {
  const operator = new MessengerClient({ deployment, masterKey: sandbox.masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no: '1' });
  // Sound: the sandbox answers with it.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}
