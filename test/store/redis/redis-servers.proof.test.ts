import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { redisStore } from '../../../src/store/redis/redis-store.ts';
import { freePort } from '../../support/free-port.ts';
import { startOwnRedis } from '../../support/own-server.ts';
import { missingForRedis } from '../../support/private-server.ts';
import { increment, read } from '../counted.ts';
import { connectTo } from './clients.ts';

describe.skipIf(missingForRedis() !== undefined)('redisStore and its server', () => {
  it('warns once of settings that lose records', async () => {
    const server = await startOwnRedis('--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru');
    const warnings: string[] = [];
    // The connection may have something to say, too.
    const listen = ({ message }: Error) => {
      if (/maxmemory|appendonly/.test(message)) warnings.push(message);
    };
    process.on('warning', listen);
    onTestFinished(() => {
      process.off('warning', listen);
    });
    for (let time = 0; time < 2; time++) {
      const store = redisStore({ client: connectTo(server.port) });
      await increment(store);
      await increment(store);
      await store.close();
    }
    await vi.waitFor(() => expect(warnings).toHaveLength(2));
    expect(warnings[0]).toMatch(/maxmemory-policy is allkeys-lru/);
    expect(warnings[1]).toMatch(/appendonly no/);
  });

  it('works for a user who may only run scripts on its keys, and is told nothing of the settings', async () => {
    const server = await startOwnRedis('--appendonly', 'no');
    const admin = connectTo(server.port);
    const commands = '+hlen +zcard +time +hmget +hget +hset +hdel +zadd +zrem +zscore'.split(' ');
    const ranges = '+zrangebyscore +zrangebylex +zremrangebyscore +evalsha +eval'.split(' ');
    await admin.call(
      ...(['ACL', 'SETUSER', 'app', 'on', '>secret', '~{partner-exchange}:*', '-@all'] as const),
      ...commands,
      ...ranges,
    );
    const client = new Redis({
      port: server.port,
      username: 'app',
      password: 'secret',
      enableReadyCheck: false,
    });
    onTestFinished(() => client.disconnect());
    const store = redisStore({ client });
    expect(await increment(store)).toBe(1);
    expect(await store.list({ prefix: '', limit: 1 })).toEqual([{ key: 'count', value: 1 }]);
    await store.close();
  });

  it('fails without writing when Redis is full', async () => {
    const server = await startOwnRedis('--maxmemory', '1500kb');
    const store = redisStore({ client: connectTo(server.port) });
    await increment(store);
    const fill = async () => {
      for (let index = 0; index < 100; index++) {
        await store.transact([`k${index}`, 'count'], (records) => {
          records.set(`k${index}`, 'x'.repeat(100_000));
          records.set('count', index);
        });
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'store_failed', cause: { message: /OOM/ } });
    // It fails to read as well, or both records of every change are there.
    const listed = await store.list({ prefix: '', limit: 1000 });
    const last = listed.filter(({ key }) => key !== 'count').length - 1;
    expect(listed.find(({ key }) => key === 'count')?.value).toBe(last < 0 ? 1 : last);
  });

  it('works on a cluster of three nodes, over ioredis and over node-redis', async () => {
    const ports = await startCluster();
    const kinds = { ioredis: connectIoredis, node: connectNodeRedis };
    for (const [kind, connectWith] of Object.entries(kinds)) {
      const { client, close } = await connectWith(ports);
      onTestFinished(close);
      // Each prefix is on the node of its slot.
      const stores = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
        redisStore({ client, prefix: `${kind}-${name}` }),
      );
      for (const store of stores) {
        await Promise.all(Array.from({ length: 10 }, () => increment(store)));
        expect(await read(store)).toBe(10);
        expect(await store.list({ prefix: 'c', limit: 5 })).toEqual([{ key: 'count', value: 10 }]);
      }
    }
    const sizes = await Promise.all(ports.map((port) => connectTo(port).dbsize()));
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2 * 6 * 3);
  }, 60_000);
});

/** Three nodes with a third of the slots each. */
async function startCluster(): Promise<number[]> {
  const startNode = async () =>
    await startOwnRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
  const servers = await Promise.all([startNode(), startNode(), startNode()]);
  const ports = servers.map(({ port }) => port);
  const nodes = ports.map((port) => connectTo(port));
  const slots = [
    [0, 5460],
    [5461, 10922],
    [10923, 16383],
  ];
  for (const [index, node] of nodes.entries()) {
    const [first = 0, last = 0] = slots[index] ?? [];
    await node.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
  }
  const ids = await Promise.all(nodes.map(async (node) => String(await node.call('CLUSTER', 'NODES'))));
  for (const text of ids) {
    const [, port = '', bus = ''] = /:(\d+)@(\d+)/.exec(text) ?? [];
    await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, bus);
  }
  await vi.waitFor(
    async () => {
      for (const node of nodes) {
        const info = String(await node.call('CLUSTER', 'INFO'));
        expect(info).toContain('cluster_state:ok');
        expect(info).toContain('cluster_known_nodes:3');
      }
    },
    { timeout: 30_000, interval: 100 },
  );
  return ports;
}

async function connectIoredis(ports: readonly number[]) {
  const client = new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })));
  return { client, close: () => client.disconnect() };
}

async function connectNodeRedis(ports: readonly number[]) {
  const client = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) });
  await client.connect();
  return { client, close: () => client.destroy() };
}
