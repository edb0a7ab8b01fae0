import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { IoredisClient, NodeRedisClient, Script } from '../../../src/store/redis/redis-client.ts';
import { redisStore } from '../../../src/store/redis/redis-store.ts';
import { commitScript, listScript, readScript, settingsScript } from '../../../src/store/redis/scripts.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { processWarnings } from '../../support/process-warnings.ts';
import { increment, read } from '../counted.ts';

const names = new Map(
  Object.entries({ readScript, commitScript, listScript, settingsScript }).map(([name, { sha }]) => [
    sha,
    name,
  ]),
);

type Answers = Partial<Record<'readScript' | 'commitScript' | 'listScript' | 'settingsScript', unknown>>;

/** A store whose Redis answers as it is told, and the names of the scripts that it was asked to run. */
function open(answers: Answers = {}) {
  const asked: string[] = [];
  const replies: Readonly<Record<string, unknown>> = {
    readScript: ['id', '1', ['']],
    commitScript: ['committed'],
    listScript: ['id', '', []],
    // As Redis answers a user who may not ask.
    settingsScript: () => Promise.reject(new Error('NOPERM')),
    ...answers,
  };
  const evalsha = async (sha: string) => {
    const name = names.get(sha) ?? '';
    asked.push(name);
    const reply = replies[name];
    return await (typeof reply === 'function' ? reply() : reply);
  };
  return { asked, store: redisStore({ client: { evalsha, eval: evalsha } }) };
}

const lost = { code: 'store_lost', message: expect.stringContaining('Redis') };

describe('redisStore', () => {
  it('only reads for a change that writes nothing', async () => {
    const { asked, store } = open();
    await read(store);
    await store.close();
    expect(asked).toEqual(['readScript', 'settingsScript']);
  });

  it('says that a change may have been written when Redis got it too late', async () => {
    const { store } = open({ commitScript: ['late'] });
    await expect(increment(store)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('may have been written'),
    });
  });

  it.each<[string, Answers]>([
    ['it reads', { readScript: ['lost'] }],
    ['it writes', { commitScript: ['lost'] }],
  ])('refuses when its records are lost as %s', async (_, answers) => {
    await expect(increment(open(answers).store)).rejects.toMatchObject(lost);
  });

  it('refuses records with another id than those that it read at the same time', async () => {
    const ids = ['first', 'second'];
    const { store } = open({ readScript: () => [ids.shift(), '1', ['']] });
    const [first, second] = await Promise.allSettled([read(store, 'a'), read(store, 'b')]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ reason: lost });
  });

  it('takes a list of nothing that comes after its first change for no loss', async () => {
    const listed = Promise.withResolvers<unknown>();
    const { store } = open({ listScript: () => listed.promise });
    const list = store.list({ prefix: '', limit: 1 });
    await increment(store);
    listed.resolve(['', '', []]);
    expect(await list).toEqual([]);
  });

  it('gives up with store_conflict, and not sooner than the last attempt', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { asked, store } = open({ commitScript: ['conflict'] });
    const end = Promise.allSettled([increment(store)]);
    for (let attempts = 0; attempts < 100; attempts++) {
      await nextTurn();
      await vi.advanceTimersByTimeAsync(20);
    }
    const [result] = await Promise.race([end, nextTurn().then(() => [])]);
    expect(result).toMatchObject({ reason: { code: 'store_conflict' } });
    expect(asked.filter((name) => name === 'commitScript')).toHaveLength(100);
  });

  it('asks for the settings once', async () => {
    const { asked, store } = open();
    for (let change = 0; change < 3; change++) await increment(store);
    await store.close();
    expect(asked.filter((name) => name === 'settingsScript')).toHaveLength(1);
  });

  it.each([
    ['refuses to tell', ''],
    ['keeps all records', 'maxmemory_policy:noeviction\r\naof_enabled:1\r\n'],
    ['drops other keys alone', 'maxmemory_policy:volatile-lru\r\naof_enabled:1\r\n'],
    ['has like settings', 'x_maxmemory_policy:allkeys-lru\r\nx_aof_enabled:0\r\n'],
  ])('warns of nothing when its server %s', async (_, settings) => {
    const warnings = processWarnings();
    const { store } = open({ settingsScript: settings });
    await increment(store);
    await store.close();
    expect(warnings()).toEqual([]);
  });

  it('warns of a server that drops records when its memory is full', async () => {
    const warnings = processWarnings();
    // Each warning comes once in a process.
    const policy = `allkeys-${crypto.randomUUID()}`;
    const { store } = open({
      settingsScript: `maxmemory:1\r\nmaxmemory_policy:${policy}\r\naof_enabled:1\r\n`,
    });
    await increment(store);
    await store.close();
    expect(warnings()).toEqual([expect.stringContaining(`maxmemory-policy is ${policy}.`)]);
  });

  it('warns of a server without a file of its changes', async () => {
    const warnings = processWarnings();
    const { store } = open({ settingsScript: 'maxmemory_policy:noeviction\r\naof_enabled:0\r\n' });
    await increment(store);
    await store.close();
    expect(warnings()).toEqual([expect.stringContaining('appendonly')]);
  });
});

describe('a script of redisStore', () => {
  const { text, sha }: Script = readScript;
  const keys = ['records', 'keys', 'expiries', 'commits'].map((name) => `{partner-exchange}:${name}`);
  type Call = readonly [by: string, script: string, keys: readonly string[], values: readonly string[]];

  /** Both kinds of clients, which fail when they are asked for a script by its digest. */
  const clients: Readonly<
    Record<string, (calls: Call[], failure: unknown) => IoredisClient | NodeRedisClient>
  > = {
    ioredis: (calls, failure): IoredisClient => ({
      async evalsha(script, count, ...rest) {
        calls.push(['sha', script, rest.slice(0, count), rest.slice(count)]);
        throw failure;
      },
      async eval(script, count, ...rest) {
        calls.push(['text', script, rest.slice(0, count), rest.slice(count)]);
        return ['id', '1', ['']];
      },
    }),
    'node-redis': (calls, failure): NodeRedisClient => ({
      async evalSha(script, given) {
        calls.push(['sha', script, given.keys, given.arguments]);
        throw failure;
      },
      async eval(script, given) {
        calls.push(['text', script, given.keys, given.arguments]);
        return ['id', '1', ['']];
      },
    }),
  };

  describe.each(Object.entries(clients))('over %s', (_, connect) => {
    it('is sent as a whole when the server does not know it', async () => {
      const calls: Call[] = [];
      const client = connect(calls, new Error('NOSCRIPT No matching script.'));
      await read(redisStore({ client }), 'a');
      const values = ['', expect.any(String), 'a'];
      expect(calls.slice(0, 2)).toEqual([
        ['sha', sha, keys, values],
        ['text', text, keys, values],
      ]);
    });

    it.each([new Error('ERR max number of clients reached'), 'NOSCRIPT, and no error'])(
      'is sent once when the server fails: %s',
      async (failure) => {
        const calls: Call[] = [];
        await expect(read(redisStore({ client: connect(calls, failure) }))).rejects.toMatchObject({
          code: 'store_failed',
          cause: failure,
        });
        expect(calls.map(([by]) => by)).toEqual(['sha']);
      },
    );
  });
});
