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

export interface BulkCrashFigures {
  readonly engine: StoreCrashEngine;
  readonly processesKilled: number;
  readonly campaigns: number;
  readonly messages: number;
  /** Numbers that got more than one message of a campaign. */
  readonly twice: number;
  /** Rows whose state at the end is not what the service saw. */
  readonly wrongStates: number;
  readonly unknown: number;
  readonly sent: number;
  readonly seconds: number;
}

const rowsOfCampaign = 60;
const processes = 2;

/**
 * Kills processes at random while two of them send the same campaign against a service that loses replies, until so many
 * were killed, and compares what the last run reports with what the service sent.
 */
export async function runBulkCrash(options: {
  readonly engine: StoreCrashEngine;
  readonly rounds: number;
}): Promise<BulkCrashFigures> {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const { engine, address, server } = await startEngine(options.engine, folder);
  const sandbox = createSandbox({ whitelist: 'off' });
  const service = await sandbox.listen();
  const apiKey = await pairDevice(service.deployment, sandbox.masterKey);
  sandbox.faults.rate('sendMessage', {
    reply_lost: 0.1,
    reset: 0.1,
    server_error: 0.1,
    too_many_requests: { probability: 0.05, when: 'before', retryAfterSeconds: 0 },
  });
  const figures = { processesKilled: 0, campaigns: 0, twice: 0, wrongStates: 0, unknown: 0, sent: 0 };

  try {
    while (figures.processesKilled < options.rounds) {
      const campaign = `campaign-${++figures.campaigns}`;
      const place = [engine, address, 'crash', service.deployment.messengerBaseUrl ?? '', apiKey];
      const arguments_ = [...place, campaign, String(rowsOfCampaign)];
      figures.processesKilled += await killWhileSending(arguments_, options.rounds - figures.processesKilled);
      const states = await lastRun(arguments_);
      const counts = new Map<string, number>();
      for (const { message } of sandbox.messages) {
        if (message.startsWith(`${campaign} `)) counts.set(message, (counts.get(message) ?? 0) + 1);
      }
      for (let index = 0; index < rowsOfCampaign; index++) {
        const count = counts.get(`${campaign} ${index}`) ?? 0;
        const state = states.get(String(index + 1)) ?? 'missing';
        const isRight = state === 'unknown' || state === (count > 0 ? 'sent' : 'not-sent');
        if (count > 1) figures.twice++;
        if (!isRight) figures.wrongStates++;
        if (state === 'unknown') figures.unknown++;
        if (state === 'sent') figures.sent++;
      }
    }
    return {
      engine: options.engine,
      ...figures,
      messages: sandbox.messages.length,
      seconds: Math.round((performance.now() - begun) / 1000),
    };
  } finally {
    await service.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lets two processes send at once, and kills one after the other until one of them is done. */
async function killWhileSending(arguments_: readonly string[], most: number): Promise<number> {
  let killed = 0;
  let isOver = false;
  /** Those that have sent something: only they can be caught in the middle. */
  const sending = new Set<SupervisedProcess>();
  const start = () => {
    const child = supervise<{ finished?: true; replayed?: boolean }>(
      join(import.meta.dirname, 'bulk-child.ts'),
      arguments_,
      {
        onMessage({ finished, replayed }) {
          if (finished) isOver = true;
          if (replayed === false) sending.add(child);
        },
        onExit: () => void sending.delete(child),
      },
    );
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

/** One more run to its end: the state of each row by its key. */
async function lastRun(arguments_: readonly string[]): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  const child = fork(join(import.meta.dirname, 'bulk-child.ts'), arguments_, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', ({ key, state }: { key?: string; state?: string }) => {
    if (key !== undefined && state !== undefined) states.set(key, state);
  });
  await once(child, 'exit');
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
