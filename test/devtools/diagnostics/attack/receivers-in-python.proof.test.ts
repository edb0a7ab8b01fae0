import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { some } from '../../../support/repeat.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { pythonReceivers } from './python-receivers.ts';

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

const all = Object.entries(pythonReceivers);

const { partnerPublicKey, partnerSecretKey, merchantSecretKey = '' } = credentials;

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) it.skip('receivers in Python: skipped, there is no python3', () => {});

describe.runIf(hasPython).concurrent('attackReceiver, of receivers in Python,', () => {
  let python: ChildProcess;
  let origin: string;

  beforeAll(async () => {
    const program = join(import.meta.dirname, 'receivers.py');
    const child = spawn('python3', [program, partnerPublicKey, partnerSecretKey, merchantSecretKey], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    python = child;
    const [port] = await once(createInterface(child.stdout), 'line');
    origin = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    // It ends when its input does.
    python.stdin?.end();
    await once(python, 'close');
  });

  // real time: on a busy machine pieces can arrive together.
  const options = { retry: 2, timeout: 180_000 };
  // Some of them, spread over the list; a thorough run tries all.
  const chosen = new Map([
    ...all.slice(0, 1),
    ...some(all, 36),
    ...all.filter(([name]) => name === 'NoLimit'),
  ]);
  it.each([...chosen])('%s: finds %j and nothing else', options, async (name, expected) => {
    const url = `${origin}/${name}`;
    const { results, findings } = await attackReceiver(url, {
      credentials,
      handled: async (id) => (await fetch(`${url}/handled?partner_order_id=${id}`)).json(),
      effectTimeoutMs: 1000,
      // It takes long, and one receiver fails it.
      skip: name === 'NoLimit' ? [] : ['too-large'],
    });
    expect(findings.map(({ id }) => id)).toEqual(expected);
    expect(results.length).toBeGreaterThan(50);
    for (const { what, advice } of findings) {
      expect(what).not.toContain('\n');
      // It says with what the receiver verifies instead, or that it acts and does not say so.
      if (expected[0] === 'authentic') expect(what).toMatch(/^verifies (?:with|under) |^acts on a genuine/);
      expect(advice.length).toBeGreaterThan(20);
    }
  });
});
