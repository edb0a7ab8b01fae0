import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { describe, it } from 'vitest';
import { isThorough, times } from '../support/repeat.ts';
import { openStore } from './open-store.ts';
import { removeKeys } from './redis/clients.ts';
import { describeWith, postgresUrl, redisUrl, run } from './servers.ts';

const engines = [
  { engine: 'ioredis', server: 'redis', address: redisUrl },
  { engine: 'node-redis', server: 'redis', address: redisUrl },
  { engine: 'postgres', server: 'postgres', address: postgresUrl },
] as const;

/** Changes of each process. */
const share = times(30, 250);

let opened = 0;

/** A store that this test alone uses. */
async function openOwn({ engine, server, address }: (typeof engines)[number]) {
  const name = `${run}_process_${opened++}`;
  const opening = await openStore(engine, address, name);
  return {
    name,
    store: opening.store,
    async [Symbol.asyncDispose]() {
      await opening.close();
      if (server === 'redis') return await removeKeys(address, [name]);
      const client = new pg.Client(address);
      await client.connect();
      await client.query(`DROP TABLE IF EXISTS ${name}`);
      await client.end();
    },
  };
}

/** Runs a program of this folder; how it ended. */
async function runProgram(program: string, args: readonly string[]): Promise<'done' | number | string> {
  const child = fork(join(import.meta.dirname, program), args, { stdio: 'inherit' });
  let isDone = false;
  child.on('message', () => {
    isDone = true;
  });
  const [code, signal] = await once(child, 'exit');
  return isDone ? 'done' : (signal ?? code);
}

for (const each of engines) {
  // Both clients of Redis make the same calls, and before a call is after the one before it.
  const some = { ioredis: ['after'], 'node-redis': ['sent'], postgres: ['after'] };
  const moments = isThorough ? ['before', 'sent', 'after'] : some[each.engine];
  describeWith(each.server, `processes that share a store: ${each.engine}`, () => {
    it.concurrent(`lose none of ${4 * share} changes of one record from 4 processes`, async ({ expect }) => {
      await using own = await openOwn(each);
      const ended = await Promise.all(
        Array.from({ length: 4 }, () =>
          runProgram('increment.ts', [each.engine, each.address, own.name, String(share)]),
        ),
      );
      expect(ended).toEqual([0, 0, 0, 0]);
      expect(await own.store.list({ prefix: '', limit: 10 })).toEqual([{ key: 'count', value: 4 * share }]);
    }, 60_000);

    describe.each(moments)('killed at a call of the engine, %s', (moment) => {
      it.concurrent('leaves all of a change or nothing, and no lock', async ({ expect }) => {
        await using own = await openOwn(each);
        const keys = ['a', 'b'];
        await own.store.transact(keys, (records) => {
          for (const key of keys) records.set(key, 0);
        });
        const counts: number[] = [];
        for (let call = 1; ; call++) {
          const args = [each.engine, each.address, own.name, String(call), moment];
          const ended = await runProgram('die-at.ts', args);
          if (ended === 'done') break;
          expect(ended).toBe('SIGKILL');
          const [a, b] = await own.store.transact(keys, (records) => keys.map((key) => records.get(key)));
          expect(a).toBe(b);
          counts.push(Number(a));
        }
        // At least a call that reads and one that writes.
        expect(counts.length).toBeGreaterThanOrEqual(2);
        if (moment === 'before') expect(counts.slice(0, 2)).toEqual([0, 0]);
        if (moment === 'after') expect(counts.at(-1)).toBeGreaterThanOrEqual(1);
      }, 60_000);
    });
  });
}
