import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { expect, it } from 'vitest';
import { attackReceiver } from '../../../src/diagnostics/attack/attack-receiver.ts';
import { credentials } from '../../webhooks/deliveries.ts';
import { startReceiver } from './broken-receivers.ts';

/** A sound receiver that runs. */
interface Running extends AsyncDisposable {
  readonly url: string;
  readonly handled: (partnerOrderId: string) => number | Promise<number>;
}

interface Language {
  readonly name: string;
  /** Fails where the language is not installed. */
  readonly probe: readonly [string, ...string[]];
  start(): Promise<Running>;
}

const folder = join(import.meta.dirname, 'receivers');
const languages: readonly Language[] = [
  { name: 'TypeScript', probe: [process.execPath, '--version'], start: () => startReceiver() },
  {
    name: 'Python',
    probe: ['python3', '--version'],
    start: () => startProgram(['python3', join(folder, 'receivers.py')], '/Sound', '/Sound/handled'),
  },
  {
    name: 'Java',
    probe: ['java', '--version'],
    start: () =>
      startProgram(
        ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', join(folder, 'Receiver.java')],
        '/orders',
        '/handled',
      ),
  },
];

for (const { name, probe, start } of languages) {
  const [program, ...args] = probe;
  if (spawnSync(program, args).status !== 0) {
    it.skip(`a sound receiver in ${name}: skipped, there is no ${program}`, () => {});
    continue;
  }
  // The case `timing` needs a machine that is not busy with other things.
  it(`attackReceiver finds nothing in a sound receiver in ${name}`, { retry: 1 }, async () => {
    await using receiver = await start();
    const { url, handled } = receiver;
    const { results, findings } = await attackReceiver(url, {
      credentials,
      handled,
      timeoutMs: 5000,
      skip: ['timing'],
    });
    expect(findings).toEqual([]);
    expect(results.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(results.length).toBeGreaterThan(85);
  });
}

/** Starts a program that takes the keys, prints its port, and ends when its input does. */
async function startProgram(
  [program = '', ...args]: readonly string[],
  path: string,
  handledPath: string,
): Promise<Running> {
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey = '' } = credentials;
  const child = spawn(program, [...args, partnerPublicKey, partnerSecretKey, merchantSecretKey], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(createInterface(child.stdout), 'line');
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: origin + path,
    handled: async (id) => (await fetch(`${origin}${handledPath}?partner_order_id=${id}`)).json(),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, 'close');
    },
  };
}
