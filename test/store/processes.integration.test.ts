import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { isThorough, times } from '../support/repeat.ts';
import { openStore } from './open-store.ts';
import { removeKeys } from './redis/clients.ts';
import { describeWith, postgresUrl, redisUrl, run } from './servers.ts';

const engines = [
  { engine: 'ioredis', server: 'redis', address: redisUrl, commit: 2 },
  { engine: 'node-redis', server: 'redis', address: redisUrl, commit: 2 },
  { engine: 'postgres', server: 'postgres', address: postgresUrl, commit: 4 },
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

// Both clients of Redis make the same calls. `npm run prove` tries all, each call and each moment.
for (const engine of engines.filter((each) => isThorough || each.engine !== 'node-redis')) {
  const processes = isThorough ? 4 : 2;
  describeWith(engine.server, `processes that share a store: ${engine.engine}`, () => {
    it.concurrent(`lose none of ${processes * share} changes of one record`, async ({ expect }) => {
      await using own = await openOwn(engine);
      const args = [engine.engine, engine.address, own.name, String(share)];
      const ended = await Promise.all(
        Array.from({ length: processes }, () => runProgram('increment.ts', args)),
      );
      expect(ended).toEqual(ended.map(() => 0));
      const count = { key: 'count', value: processes * share };
      expect(await own.store.list({ prefix: '', limit: 10 })).toEqual([count]);
    }, 60_000);

    it.concurrent.each(isThorough ? ['before', 'sent', 'after'] : ['sent'])(
      'leave all of a change or nothing, and no lock, killed at a call of the engine: %s',
      async (moment) => {
        await using own = await openOwn(engine);
        const keys = ['a', 'b'];
        const counts: unknown[] = [];
        for (let call = isThorough ? 1 : engine.commit; ; call++) {
          const args = [engine.engine, engine.address, own.name, String(call), moment];
          const ended = await runProgram('die-at.ts', args);
          if (ended === 'done') break;
          expect(ended).toBe('SIGKILL');
          const [a, b] = await own.store.transact(keys, (records) => keys.map((key) => records.get(key)));
          expect(a).toBe(b);
          counts.push(a);
          if (!isThorough) break;
        }
        if (isThorough) expect(counts.length).toBeGreaterThanOrEqual(engine.commit);
        if (moment === 'before')
          expect(counts.slice(0, engine.commit)).toEqual(Array(engine.commit).fill(undefined));
        if (moment === 'after') expect(counts.at(-1)).toBeGreaterThanOrEqual(1);
      },
      60_000,
    );
  });
}
