import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { expect, it, onTestFinished } from 'vitest';
import { attackReceiver } from '../../../src/diagnostics/attack/attack-receiver.ts';
import { freePort } from '../../support/free-port.ts';
import { credentials } from '../../webhooks/deliveries.ts';
import { startReceiver } from './broken-receivers.ts';

/** A sound receiver that runs. */
interface Running extends AsyncDisposable {
  readonly url: string;
  readonly handled?: (partnerOrderId: string) => number | Promise<number>;
}

interface Language {
  readonly name: string;
  /** Fails where the language is not installed. */
  readonly probe: readonly [string, ...string[]];
  start(): Promise<Running>;
}

// Go and PHP have to be built or mounted first: `npm run test:languages` attacks them, too.
const languages: readonly Language[] = [
  { name: 'TypeScript', probe: [process.execPath, '--version'], start: () => startReceiver() },
  { name: 'Python', probe: ['python3', '--version'], start: startPython },
  {
    name: 'Java',
    probe: ['java', '--version'],
    start: () => startExample('java', '-XX:TieredStopAtLevel=1', example('Receiver.java')),
  },
  { name: 'Ruby', probe: ['ruby', '--version'], start: () => startExample('ruby', example('receiver.rb')) },
];

const { partnerPublicKey, partnerSecretKey, merchantSecretKey = '' } = credentials;

for (const { name, probe, start } of languages) {
  const [program, ...args] = probe;
  if (spawnSync(program, args).status !== 0) {
    it.skip(`a sound receiver in ${name}: skipped, there is no ${program}`, () => {});
    continue;
  }
  // Time limits of other programs can end on a busy machine.
  it(`attackReceiver finds nothing in a sound receiver in ${name}`, { retry: 1 }, async () => {
    await using receiver = await start();
    const { url, handled } = receiver;
    const { results, findings } = await attackReceiver(url, {
      credentials,
      handled,
      timeoutMs: 5000,
      // The examples give a body five seconds to arrive.
      skip: ['timing', ...(handled === undefined ? ['slow-body'] : [])],
    });
    expect(findings).toEqual([]);
    const skipped = results.filter(({ verdict }) => verdict === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual(handled === undefined ? effectCases : []);
    expect(results.length).toBeGreaterThan(85);
  });
}

const effectCases = [
  'handled-after-forgeries',
  'handled-next-event',
  'handled-once',
  'acted-before-verification',
];

/** The sound one of `receivers.py`, which tells how often it acted. */
async function startPython(): Promise<Running> {
  const program = join(import.meta.dirname, 'receivers.py');
  const child = spawn('python3', [program, partnerPublicKey, partnerSecretKey, merchantSecretKey], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(createInterface(child.stdout), 'line');
  const url = `http://127.0.0.1:${port}/Sound`;
  return {
    url,
    handled: async (id) => (await fetch(`${url}/handled?partner_order_id=${id}`)).json(),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, 'close');
    },
  };
}

function example(file: string): string {
  return join(import.meta.dirname, '../../../examples/languages', file);
}

async function startExample(program: string, ...args: readonly string[]): Promise<Running> {
  const port = await freePort();
  const env = {
    ...process.env,
    PARTNER_SECRET_KEY: partnerSecretKey,
    MERCHANT_SECRET_KEY: merchantSecretKey,
  };
  const child = spawn(program, [...args, 'listen', String(port)], { env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}/`;
  const isListening = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await expect.poll(isListening, { timeout: 15_000 }).toBe(true);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
