import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../src/internal/backoff.ts';
import type { RecordStore, StoredRecord } from '../../src/store/record-store.ts';
import { openStore } from '../store/open-store.ts';
import { type StoreEngine, startEngine } from './crash-engine.ts';
import { accounts, type Transfer } from './store-accounts.ts';
import { type SupervisedProcess, supervise } from './supervised-process.ts';

export interface StoreCrashOptions {
  readonly engine: StoreEngine;
  readonly rounds: number;
  /** Kill and start the engine too, every so many rounds. */
  readonly restartEvery?: number | undefined;
}

export interface StoreCrashFigures {
  readonly engine: StoreEngine;
  readonly rounds: number;
  readonly processesKilled: number;
  readonly engineRestarts: number;
  /** Transfers that a process told us of before it was killed. */
  readonly acknowledged: number;
  readonly found: number;
  /** Acknowledged, and not there. */
  readonly lost: number;
  /** Accounts whose balance is not that of the transfers that are there. */
  readonly wrongBalances: number;
  /** By how much the sum of all accounts has changed. */
  readonly sumOff: number;
  /** Effects guarded by `once` that happened. */
  readonly effects: number;
  /** Of these, more than once. */
  readonly effectsTwice: number;
  /** Of those that a process has the result of, not there. */
  readonly effectsLost: number;
  readonly seconds: number;
}

const processes = 4;
const startBalance = 1000;

/**
 * Kills processes at random while they transfer between accounts of one store and have effects once, and counts what
 * became of it.
 */
export async function runStoreCrash(options: StoreCrashOptions): Promise<StoreCrashFigures> {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const { place: engine, server } = await startEngine(options.engine, folder);
  const place = [engine.engine, engine.address, 'crash'] as const;
  const effectsFile = join(folder, 'effects');
  writeFileSync(effectsFile, '');
  // On a busy machine the engine may take its time, and must not be missed here.
  const { store, close } = await openStore(...place, { storeTimeoutMs: 30_000 });
  await store.transact(accounts, (records) => {
    for (const account of accounts) records.set(account, startBalance);
  });
  const acknowledged = new Set<string>();
  const results = new Set<string>();
  const children: SupervisedProcess[] = [];
  let [processesKilled, engineRestarts] = [0, 0];

  const start = () =>
    supervise<string>(join(import.meta.dirname, 'store-child.ts'), [...place, effectsFile], {
      onMessage(message) {
        const [, effect] = /^effect (\d+)$/.exec(message) ?? [];
        if (effect !== undefined) results.add(effect);
        else if (message !== 'ready') acknowledged.add(message);
      },
    });

  try {
    for (let count = 0; count < processes; count++) children.push(start());
    for (let round = 1; round <= options.rounds; round++) {
      // So that every round has some work to kill.
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + processes, 60_000);
      await sleep(Math.random() * 100);
      children[Math.floor(Math.random() * processes)]?.kill();
      processesKilled++;
      if (server !== undefined && options.restartEvery && round % options.restartEvery === 0) {
        await server.restart();
        engineRestarts++;
      }
    }
    await Promise.all(children.map((child) => child.end()));
    const done = (await listAll(store, 'done/')).map(({ key, value }) => ({
      id: key.slice('done/'.length),
      // Sound: the children write it.
      transfer: value as unknown as Transfer,
    }));
    const ids = new Set(done.map(({ id }) => id));
    const expected = new Map(accounts.map((account) => [account, startBalance]));
    for (const { transfer } of done) {
      expected.set(transfer.from, (expected.get(transfer.from) ?? 0) - transfer.amount);
      expected.set(transfer.to, (expected.get(transfer.to) ?? 0) + transfer.amount);
    }
    const balances = await listAll(store, 'account/');
    const effects = readFileSync(effectsFile, 'utf8').split('\n').slice(0, -1);
    const distinct = new Set(effects);
    const sum = balances.reduce((total, { value }) => total + Number(value), 0);
    return {
      engine: options.engine,
      rounds: options.rounds,
      processesKilled,
      engineRestarts,
      acknowledged: acknowledged.size,
      found: done.length,
      lost: [...acknowledged].filter((id) => !ids.has(id)).length,
      wrongBalances: balances.filter(({ key, value }) => expected.get(key) !== value).length,
      sumOff: sum - accounts.length * startBalance,
      effects: distinct.size,
      effectsTwice: effects.length - distinct.size,
      effectsLost: [...results].filter((effect) => !distinct.has(effect)).length,
      seconds: Math.round((performance.now() - begun) / 1000),
    };
  } finally {
    await Promise.all(children.map((child) => child.end()));
    await close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listAll(store: RecordStore, prefix: string): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for (;;) {
    const page = await patiently(() => store.list({ prefix, after: all.at(-1)?.key, limit: 1000 }));
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

/** An engine that was killed may take a while to recover. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 300) throw error;
      await sleep(200);
    }
  }
}

export async function until(holds: () => boolean | Promise<boolean>, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('Waited in vain.');
    await sleep(20);
  }
}
