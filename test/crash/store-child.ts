import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { isOnceError } from '../../src/errors/errors.ts';
import { sleep } from '../../src/internal/backoff.ts';
import { once } from '../../src/store/once.ts';
import { openStore } from '../store/open-store.ts';
import { accounts, type Transfer } from './store-accounts.ts';

/**
 * A process of the crash suite that transfers between accounts of a record store, and has effects in a file once; it is
 * killed without warning.
 */

/** Once for each id, however often it is called. */
async function transfer(id: string, { from, to, amount }: Transfer): Promise<void> {
  const done = `done/${id}`;
  await store.transact([from, to, done], (records) => {
    if (records.get(done) !== undefined) return;
    records.set(from, Number(records.get(from)) - amount);
    records.set(to, Number(records.get(to)) + amount);
    records.set(done, { from, to, amount });
  });
}

function pick(from: readonly string[]): string {
  return from[Math.floor(Math.random() * from.length)] ?? '';
}

async function work(): Promise<never> {
  for (;;) {
    const id = randomUUID();
    const from = pick(accounts);
    const to = pick(accounts.filter((name) => name !== from));
    for (let isDone = false; !isDone; ) {
      try {
        await transfer(id, { from, to, amount: 1 + Math.floor(Math.random() * 9) });
        isDone = true;
      } catch {
        // Perhaps it was written; then the next time changes nothing.
        await sleep(50);
      }
    }
    process.send?.(id);
  }
}

/** The same effects in every process, each once. */
async function haveEffects(): Promise<never> {
  for (let number = 0; ; ) {
    try {
      await once(store, `effect ${number}`, () => appendFileSync(effects, `${number}\n`));
      process.send?.(`effect ${number}`);
      number++;
    } catch (error) {
      if (isOnceError(error) && error.code === 'unknown') number++;
      else await sleep(20);
    }
  }
}

const [engine = '', address = '', name = '', effects = ''] = process.argv.slice(2);
// Do not outlive the parent.
process.on('disconnect', () => process.exit());
const { store } = await openStore(engine, address, name);
process.send?.('ready');
await Promise.all([work(), work(), work(), haveEffects()]);
