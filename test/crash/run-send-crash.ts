import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { sleep } from '../../src/internal/backoff.ts';
import { type SupervisedProcess, supervise } from '../support/supervised-process.ts';
import { type StoreCrashEngine, startEngine, until } from './run-store-crash.ts';

export type SendCrashFigures = Awaited<ReturnType<typeof runSendCrash>>;

const numbersOfList = 60;
const processes = 2;
const script = join(import.meta.dirname, 'send-child.ts');

/**
 * Kills processes at random while two of them send one text to the same numbers, against a service that loses replies,
 * and compares the reports of the last runs with the texts that the service sent.
 */
export async function runSendCrash(options: { readonly engine: StoreCrashEngine; readonly rounds: number }) {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const { engine, address, server } = await startEngine(options.engine, folder);
  const sandbox = createSandbox({ whitelist: 'off' });
  const service = await sandbox.listen();
  const apiKey = await pairDevice(service.deployment, sandbox.masterKey);
  sandbox.faults.plan('sendMessage', 'reply_lost', { rate: 0.1 });
  sandbox.faults.plan('sendMessage', 'reset', { rate: 0.1 });
  const limited = { kind: 'too_many_requests', when: 'before', retryAfterSeconds: 0 } as const;
  sandbox.faults.plan('sendMessage', limited, { rate: 0.05 });
  // twice: numbers that got the text more than once. lost: reported as sent, and got none. open: neither sent nor unknown.
  const figures = { processesKilled: 0, numbers: 0, twice: 0, lost: 0, open: 0, sent: 0, unknown: 0 };

  try {
    for (let list = 1; figures.processesKilled < options.rounds; list++) {
      const name = `list-${list}`;
      const target = [engine, address, 'crash', service.deployment.messengerBaseUrl ?? '', apiKey];
      const args = [...target, name, String(numbersOfList)];
      figures.processesKilled += await killWhileSending(args, options.rounds - figures.processesKilled);
      const states = await finish(args);
      figures.numbers += numbersOfList;
      for (const [phone, state] of states) {
        const texts = sandbox.messages.filter((text) => text.to_phone === phone && text.message === name);
        if (texts.length > 1) figures.twice++;
        if (state === 'sent' && texts.length === 0) figures.lost++;
        if (state === 'sent') figures.sent++;
        else if (state === 'unknown') figures.unknown++;
        else figures.open++;
      }
    }
    return {
      engine: options.engine,
      ...figures,
      texts: sandbox.messages.length,
      seconds: Math.round((performance.now() - begun) / 1000),
    };
  } finally {
    await service.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Report = { readonly to_phone?: string; readonly state?: string; readonly finished?: true };

/** Lets two processes send at once, and kills one after the other until one of them is done. */
async function killWhileSending(args: readonly string[], most: number): Promise<number> {
  let killed = 0;
  let isOver = false;
  /** The processes that have sent something: only they can be caught in the middle. */
  const sending = new Set<SupervisedProcess>();
  const start = () => {
    const child = supervise<Report>(script, args, {
      onMessage({ finished }) {
        if (finished) isOver = true;
        sending.add(child);
      },
      onExit: () => void sending.delete(child),
    });
    return child;
  };
  const children = Array.from({ length: processes }, start);
  while (!isOver && killed < most) {
    await until(() => isOver || sending.size > 0, 60_000);
    await sleep(Math.random() * 60);
    const [child] = sending;
    if (isOver || child === undefined) continue;
    sending.delete(child);
    child.kill();
    killed++;
  }
  await Promise.all(children.map((child) => child.end()));
  return killed;
}

/** Runs until each number is `sent` or `unknown`, at most 40 times: the state of each number. */
async function finish(args: readonly string[]): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  const isSettled = (state: string) => state === 'sent' || state === 'unknown';
  for (let runs = 0; runs < 40 && (states.size === 0 || ![...states.values()].every(isSettled)); runs++) {
    const child = fork(script, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.on('message', ({ to_phone, state }: Report) => {
      if (to_phone !== undefined && state !== undefined) states.set(to_phone, state);
    });
    await once(child, 'exit');
  }
  return states;
}

async function pairDevice(
  deployment: ConstructorParameters<typeof MessengerClient>[0]['deployment'],
  masterKey: string,
): Promise<string> {
  const operator = new MessengerClient({ deployment, masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no: '1' });
  // Sound: the sandbox answers with it.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}
