import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attackReceiver } from '../../src/diagnostics/attack/attack-receiver.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { root } from '../../tools/checks/entries.ts';
import { startTally } from '../../tools/checks/tally.ts';
import { ContractCheck } from '../contract/contract-check.ts';
import { freePort } from '../support/free-port.ts';
import { type ConformanceVector, readConformanceVectors } from '../testing/conformance.ts';

/**
 * `npm run test:languages [-- php go]`: runs the receivers of `examples/languages` against every vector of their scheme
 * and against `attackReceiver`, and has the sandbox take their signed order. A language that is not installed is
 * skipped and named; with CI=true it fails.
 */

interface Language {
  /** What has to be installed. */
  readonly needs: string;
  readonly isInstalled: readonly string[];
  /** Prepares the program, in a folder of its own. */
  readonly compile?: (folder: string) => void;
  readonly listen: (folder: string, port: string) => readonly string[];
  readonly order: (folder: string, id: string) => readonly string[];
  /** A program behind a web server cannot refuse to start: it answers 500. */
  readonly withoutKeys?: 'answers 500';
}

const source = (file: string) => join(root, 'examples', 'languages', file);

const apacheModules = '/usr/lib/apache2/modules';

const languages: Readonly<Record<string, Language>> = {
  python: {
    needs: 'python3',
    isInstalled: ['python3', '--version'],
    listen: (_, port) => ['python3', source('receiver.py'), 'listen', port],
    order: (_, id) => ['python3', source('receiver.py'), 'order', id],
  },
  php: {
    needs: 'php-cli and libapache2-mod-php',
    isInstalled: ['sh', '-c', `php --version && ls ${apacheModules}/libphp*.so`],
    compile: prepareApache,
    listen: (folder, port) => {
      const config = ['-d', folder, '-f', join(folder, 'apache.conf'), '-c', `Listen 127.0.0.1:${port}`];
      return ['/usr/sbin/apache2', '-D', 'FOREGROUND', ...config];
    },
    order: (_, id) => ['php', source('receiver.php'), 'order', id],
    withoutKeys: 'answers 500',
  },
  go: {
    needs: 'golang-go',
    isInstalled: ['go', 'version'],
    compile: (folder) => void execFileSync('go', ['build', '-o', folder, source('receiver.go')]),
    listen: (folder, port) => [join(folder, 'receiver'), 'listen', port],
    order: (folder, id) => [join(folder, 'receiver'), 'order', id],
  },
  java: {
    needs: 'a JDK 17',
    isInstalled: ['javac', '--version'],
    compile: (folder) => void execFileSync('javac', ['-d', folder, source('Receiver.java')]),
    listen: (folder, port) => ['java', '-cp', folder, 'Receiver', 'listen', port],
    order: (folder, id) => ['java', '-cp', folder, 'Receiver', 'order', id],
  },
  ruby: {
    needs: 'ruby',
    isInstalled: ['ruby', '--version'],
    listen: (_, port) => ['ruby', source('receiver.rb'), 'listen', port],
    order: (_, id) => ['ruby', source('receiver.rb'), 'order', id],
  },
};

const { vectors, defaults } = readConformanceVectors();
const ownVectors = vectors.filter(({ scheme }) => JSON.stringify(scheme) === JSON.stringify(defaults.scheme));
const { partnerPublicKey, partnerSecretKey, merchantSecretKey = '' } = defaults.credentials;

type Secrets = Readonly<Record<'MERCHANT_SECRET_KEY' | 'PARTNER_SECRET_KEY', string>>;
const secrets: Secrets = { MERCHANT_SECRET_KEY: merchantSecretKey, PARTNER_SECRET_KEY: partnerSecretKey };

const chosen = process.argv.slice(2);
const tally = startTally();
const begun = performance.now();
await Promise.all(
  Object.entries(languages)
    .filter(([name]) => chosen.length === 0 || chosen.includes(name))
    .map(([name, language]) => tryLanguage(name, language)),
);
console.log(`${Math.round((performance.now() - begun) / 1000)} s`);
tally.finish();

async function tryLanguage(name: string, language: Language): Promise<void> {
  const [program = '', ...args] = language.isInstalled;
  if (spawnSync(program, args).status !== 0) {
    if (process.env.CI !== 'true') return console.log(`skip  ${name}: it needs ${language.needs}`);
    return await tally.check(name, () => Promise.reject(new Error(`It needs ${language.needs}.`)));
  }
  const folder = mkdtempSync(join(tmpdir(), `pex-${name}-`));
  try {
    language.compile?.(folder);
    await tally.check(`${name}: every vector of its scheme`, () => tryVectors(language, folder));
    await tally.check(`${name}: takes nothing with an empty key`, () => tryEmptyKeys(language, folder));
    await tally.check(`${name}: says how it is called`, () => tryUsage(language, folder));
    await tally.check(`${name}: attackReceiver finds nothing`, () => tryAttack(language, folder));
    await tally.check(`${name}: the sandbox takes its signed order`, () => tryOrder(language, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** PHP has no server of its own for production: its receiver runs in Apache, which gives bodies a time to arrive. */
function prepareApache(folder: string): void {
  const [php = ''] = globSync(`${apacheModules}/libphp*.so`);
  const modules = { mpm_prefork: '', authz_core: '', alias: '', reqtimeout: '', php };
  const load = Object.entries(modules).map(
    ([name, file]) => `LoadModule ${name}_module ${file || `${apacheModules}/mod_${name}.so`}`,
  );
  const config = [
    ...load,
    'ServerName 127.0.0.1',
    'RequestReadTimeout header=8 body=8',
    // The attack holds connections open: a request must not wait for a process to be made.
    'StartServers 16',
    'MinSpareServers 16',
    'MaxSpareServers 32',
    'TraceEnable off',
    // As root it runs as these.
    'User nobody',
    'Group nogroup',
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.log`,
    `AliasMatch ^/.*$ ${folder}/receiver.php`,
    `<Directory ${folder}>`,
    'Require all granted',
    'SetHandler application/x-httpd-php',
    '</Directory>',
  ];
  copyFileSync(source('receiver.php'), join(folder, 'receiver.php'));
  writeFileSync(join(folder, 'apache.conf'), config.join('\n'));
  chmodSync(folder, 0o755);
}

async function tryVectors(language: Language, folder: string): Promise<void> {
  const wrong: string[] = [];
  for (const [key, group] of Map.groupBy(ownVectors, keyOf)) {
    if (key === '') continue; // tryEmptyKeys has these.
    await using receiver = await listen(language, folder, splitKey(key));
    for (const { name, bytes, expect } of group) {
      const { status } = await fetch(receiver.url, { method: 'POST', body: Uint8Array.from(bytes) });
      const isRight = expect === 'accept' ? status === 200 : status >= 400 && status < 500;
      if (!isRight) wrong.push(`${status} for a vector to ${expect}: ${name}`);
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

/** What a compose file makes of an unset variable. */
async function tryEmptyKeys(language: Language, folder: string): Promise<void> {
  const keyless = ownVectors.filter((vector) => keyOf(vector) === '');
  if (keyless.length === 0) throw new Error('No vector has the empty key.');
  const empty = { MERCHANT_SECRET_KEY: '', PARTNER_SECRET_KEY: '' };
  for (const keys of [
    empty,
    { ...secrets, MERCHANT_SECRET_KEY: '' },
    { ...secrets, PARTNER_SECRET_KEY: ' ' },
  ]) {
    expectExit2(language.order(folder, 'A-1001'), keys);
    if (language.withoutKeys !== 'answers 500') {
      expectExit2(language.listen(folder, String(await freePort())), keys);
      continue;
    }
    await using receiver = await listen(language, folder, keys);
    for (const { name, bytes } of keyless) {
      const { status } = await fetch(receiver.url, { method: 'POST', body: Uint8Array.from(bytes) });
      if (status !== 500) throw new Error(`${status} instead of 500: ${name}`);
    }
  }
}

async function tryUsage(language: Language, folder: string): Promise<void> {
  const whole = language.order(folder, 'A-1001');
  const calls = [whole.slice(0, -2), whole.slice(0, -1), [...whole.slice(0, -2), 'odrer', 'A-1001']];
  for (const call of calls) expectExit2(call, secrets);
}

/** It says on stderr what it wants, without a stack. */
function expectExit2([program = '', ...args]: readonly string[], keys: Secrets): void {
  const options = { env: { ...process.env, ...keys }, encoding: 'utf8', timeout: 10_000 } as const;
  const { status, stdout, stderr } = spawnSync(program, args, options);
  if (status === 2 && stdout === '' && /^(Set|Usage:) .+\n$/.test(stderr)) return;
  throw new Error(`${[program, ...args].join(' ')} ended with ${status}: ${stderr.slice(0, 200)}`);
}

function keyOf({ purpose, credentials }: ConformanceVector): string {
  const { partnerSecretKey: partner, merchantSecretKey: merchant = '' } = credentials;
  return purpose === 'order' ? merchant + partner : partner;
}

/** The receivers join two secrets: any cut gives the same key. */
function splitKey(key: string): Secrets {
  return { MERCHANT_SECRET_KEY: key.slice(0, 9), PARTNER_SECRET_KEY: key.slice(9) };
}

async function tryAttack(language: Language, folder: string): Promise<void> {
  await using receiver = await listen(language, folder, secrets);
  const { results } = await attackReceiver(receiver.url, { credentials: defaults.credentials });
  const bad = results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak');
  if (bad.length > 0) {
    throw new Error(bad.map(({ id, verdict, answered }) => `${verdict} ${id}: ${answered}`).join('\n'));
  }
  if (results.filter(({ verdict }) => verdict === 'ok').length < 50) throw new Error('Too few cases ran.');
}

/** Its signature is checked by another implementation, its body by the contract, and both by the sandbox. */
async function tryOrder(language: Language, folder: string): Promise<void> {
  const [program = '', ...args] = language.order(folder, 'A-1001');
  const text = execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, ...secrets } });
  const [, unsigned, signature] = /^(.*), ?"signature": ?"([0-9a-f]{128})"\}$/.exec(text) ?? [];
  const key = merchantSecretKey + partnerSecretKey;
  const expected = createHmac('sha512', key).update(`${unsigned}}`).digest('hex');
  if (signature !== expected) throw new Error('The order is not signed as the contract says.');
  const problems = new ContractCheck().problems('createOrder', JSON.parse(text));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const sandbox = createSandbox({
    whitelist: 'off',
    partners: [{ credentials: { ...defaults.credentials, merchantSecretKey, partnerCode: 'acme' } }],
  });
  await sandbox.ready();
  const { onboardingBaseUrl, paths } = sandbox.deployment;
  const reply = await sandbox.fetch(`${onboardingBaseUrl}${paths.createOrder}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${partnerPublicKey}`, 'content-type': 'application/json' },
    body: text,
  });
  if (!reply.ok) throw new Error(`The sandbox answered ${reply.status}: ${await reply.text()}`);
  await sandbox.close();
}

async function listen(language: Language, folder: string, keys: Secrets) {
  const port = await freePort();
  const [program = '', ...args] = language.listen(folder, String(port));
  const child = spawn(program, args, { env: { ...process.env, ...keys }, stdio: 'ignore', detached: true });
  await untilListening(child, port);
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      // With its workers.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error('The receiver ended.');
    const socket = connect(port, '127.0.0.1');
    const isConnected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isConnected) return;
    await sleep(100);
  }
  throw new Error('The receiver did not listen within 30 seconds.');
}
