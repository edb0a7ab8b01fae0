import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attackReceiver } from '../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { root } from '../../tools/checks/entries.ts';
import { startTally } from '../../tools/checks/tally.ts';
import { ContractCheck } from '../contract/contract-check.ts';
import { type ConformanceVector, readConformanceVectors } from '../devtools/testing/conformance.ts';
import { freePort } from '../support/free-port.ts';
import { type Language, languages } from './languages.ts';

/**
 * `npm run test:languages [-- php go]`: runs the receivers of `examples/languages` against every vector of their scheme
 * and against `attackReceiver`, and has the sandbox take their signed order. A language that is not installed is
 * skipped and named; with CI=true it fails.
 */

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
    if (process.env.CI !== 'true' || language.isOptional)
      return console.log(`skip  ${name}: it needs ${language.needs}`);
    return await tally.check(name, () => Promise.reject(new Error(`It needs ${language.needs}.`)));
  }
  const folder = mkdtempSync(join(tmpdir(), `pex-${name}-`));
  try {
    install(language, folder, (text) => text);
    await tally.check(`${name}: every vector of its scheme`, () => tryVectors(language, folder));
    await tally.check(`${name}: takes nothing with an empty key`, () => tryEmptyKeys(language, folder));
    await tally.check(`${name}: says how it is called`, () => tryUsage(language, folder));
    await tally.check(`${name}: attackReceiver sees that nothing is handled`, () =>
      tryUnhandled(language, folder),
    );
    await tally.check(`${name}: attackReceiver finds nothing once events are stored`, () =>
      tryAttack(language, folder),
    );
    await tally.check(`${name}: the sandbox takes its signed order`, () => tryOrder(language, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Copies the example into the folder, and compiles it there. */
function install(language: Language, folder: string, edit: (text: string) => string): void {
  const { file, compile } = language;
  writeFileSync(join(folder, file), edit(readFileSync(join(root, 'examples', 'languages', file), 'utf8')));
  chmodSync(folder, 0o755);
  compile?.(folder);
}

async function tryVectors(language: Language, folder: string): Promise<void> {
  const wrong: string[] = [];
  for (const [key, group] of Map.groupBy(ownVectors, keyOf)) {
    if (key === '') continue; // tryEmptyKeys has these.
    await using receiver = await listen(language, folder, splitKey(key));
    for (const { name, bytes, expect } of group) {
      const { status } = await postAlone(receiver.url, bytes);
      const isRight = expect === 'accept' ? status === 200 : status >= 400 && status < 500;
      if (!isRight) wrong.push(`${status} for a vector to ${expect}: ${name}`);
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

/** On a connection of its own: a server may close one that is kept just when it is used again. */
function postAlone(url: string, bytes: Iterable<number>): Promise<Response> {
  const headers = { connection: 'close' };
  return fetch(url, { method: 'POST', headers, body: Uint8Array.from(bytes) });
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
      const { status } = await postAlone(receiver.url, bytes);
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

/** As it stands, an example stores nothing. */
async function tryUnhandled(language: Language, folder: string): Promise<void> {
  await using receiver = await listen(language, folder, secrets);
  const { findings } = await attackReceiver(receiver.url, {
    ...{ credentials: defaults.credentials, handled: () => 0 },
    // real time: nothing ends before it: a busy machine only makes it later.
    ...{ effectTimeoutMs: 100, only: ['authentic'] },
  });
  const ids = findings.map(({ id }) => id).join();
  if (ids !== 'handles-nothing') throw new Error(`It found "${ids}".`);
}

async function tryAttack(language: Language, plainFolder: string): Promise<void> {
  const folder = join(plainFolder, 'storing');
  mkdirSync(folder);
  install(language, folder, (text) => {
    const parts = text.split(/^.*Store the event.*$/m);
    if (parts.length !== 2) throw new Error('It has not one line that says where to store the event.');
    return parts.join(language.store);
  });
  const events = join(folder, 'events');
  writeFileSync(events, '');
  // Apache writes it as another user.
  chmodSync(events, 0o666);
  await using receiver = await listen(language, folder, { ...secrets, EVENTS: events });
  const { results } = await attackReceiver(receiver.url, {
    credentials: defaults.credentials,
    handled: countSteps(events),
  });
  const bad = results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak');
  if (bad.length > 0) {
    throw new Error(bad.map(({ id, verdict, answered }) => `${verdict} ${id}: ${answered}`).join('\n'));
  }
  const left = results.filter(({ verdict }) => verdict === 'skipped');
  if (left.length > 0)
    throw new Error(left.map(({ id, answered }) => `skipped ${id}: ${answered}`).join('\n'));
}

/** How many steps of an order are stored: a worker that reads the file acts once on each, however often it came. */
function countSteps(file: string) {
  const steps = new Map<string, Set<unknown>>();
  let read = 0;
  return (id: string): number => {
    const texts = readFileSync(file, 'utf8').split('\0').slice(read, -1);
    read += texts.length;
    for (const text of texts) {
      const { partner_order_id: order, event_name: name } = JSON.parse(text);
      steps.set(order, (steps.get(order) ?? new Set()).add(name));
    }
    return steps.get(id)?.size ?? 0;
  };
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
  const { onboardingBaseUrl, paths } = sandbox.deployment;
  const reply = await sandbox.fetch(`${onboardingBaseUrl}${paths.createOrder}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${partnerPublicKey}`, 'content-type': 'application/json' },
    body: text,
  });
  if (!reply.ok) throw new Error(`The sandbox answered ${reply.status}: ${await reply.text()}`);
  await sandbox.close();
}

async function listen(
  language: Language,
  folder: string,
  environment: Secrets & { readonly EVENTS?: string },
) {
  const port = await freePort();
  const [program = '', ...args] = language.listen(folder, String(port));
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: 'ignore',
    detached: true,
  });
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
    // real time: looks again until it is there.
    await sleep(100);
  }
  throw new Error('The receiver did not listen within 30 seconds.');
}
