import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { listeningPort } from './listening.ts';
import { closedUrl } from './local-server.ts';
import { startTestServers } from './test-servers.ts';

const redis = inject('redis');

it('a server that the environment names is used as it is, and none is started', async () => {
  const port = await busyPort();
  const given = {
    TEST_REDIS_URL: `redis://u:p@127.0.0.1:${port}/2`,
    TEST_POSTGRES_URL: `postgres://127.0.0.1:${port}/x`,
  };
  const servers = await startTestServers(given);
  expect(servers).toMatchObject({
    redis: { url: given.TEST_REDIS_URL },
    postgres: { url: given.TEST_POSTGRES_URL },
  });
  await servers.stop();
});

it('a named server that does not answer is an error, which shows no password', async () => {
  const { port } = new URL(await closedUrl());
  const TEST_POSTGRES_URL = `postgres://me:s3cret@127.0.0.1:${port}/test`;
  const failed = startTestServers({ PATH: '', TEST_POSTGRES_URL });
  await expect(failed).rejects.toThrow('Nothing answers at 127.0.0.1, which TEST_POSTGRES_URL names.');
  await expect(failed).rejects.not.toThrow('s3cret');
});

it('a server that is neither installed nor named is missing, and the usual port is not tried', async () => {
  const port = await busyPort();
  const servers = await startTestServers({ PATH: '', TEST_POSTGRES_URL: `postgres://127.0.0.1:${port}/x` });
  expect(servers.redis).toEqual({ missing: 'redis-server here, and TEST_REDIS_URL is not set' });
  await servers.stop();
});

it.runIf('url' in redis)(
  'the servers end with the process that started them, also when that is killed',
  async () => {
    const source = `
    import { startTestServers } from ${JSON.stringify(join(import.meta.dirname, 'test-servers.ts'))};
    const { redis } = await startTestServers();
    console.log(redis.url);
    setInterval(() => {}, 1000);`;
    const env = { ...process.env, TEST_REDIS_URL: undefined, TEST_POSTGRES_URL: undefined };
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], { env });
    const [line] = await once(child.stdout, 'data');
    const port = Number(new URL(String(line).trim()).port);
    expect(await listens(port)).toBe(true);
    child.kill('SIGKILL');
    await vi.waitFor(async () => expect(await listens(port)).toBe(false), { timeout: 10_000, interval: 50 });
  },
);

async function busyPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return listeningPort(server);
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
