import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PrivateServer, startNats, startPostgres, startRabbitmq, startRedis } from './private-server.ts';

/*
 * A program: starts the servers named by its arguments (redis, postgres, rabbitmq, nats), prints their addresses as one line of
 * JSON, and ends them, with all they wrote, when its standard input ends. That is when whoever started it is gone.
 */

// Nothing here outlives the run: tests that kill an engine start one of their own, which writes to disk.
const inMemory = {
  redis: ['--appendonly', 'no'],
  postgres: ['fsync', 'synchronous_commit', 'full_page_writes'].flatMap((name) => ['-c', `${name}=off`]),
};

const servers: PrivateServer[] = [];
const folders: string[] = [];
const over = once(process.stdin.resume(), 'end');

try {
  const urls: Record<string, string> = {};
  for (const name of process.argv.slice(2)) urls[name] = await start(name);
  process.stdout.write(`${JSON.stringify(urls)}\n`);
  await over;
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

async function start(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `test-${name}-`));
  folders.push(folder);
  const { start: startServer, urlOf } = kindOf(name);
  const server = await startServer(folder);
  servers.push(server);
  return urlOf(server.port);
}

function kindOf(name: string) {
  switch (name) {
    case 'redis':
      return {
        start: (folder: string) => startRedis(folder, inMemory.redis),
        urlOf: (port: number) => `redis://127.0.0.1:${port}`,
      };
    case 'rabbitmq':
      return { start: startRabbitmq, urlOf: (port: number) => `amqp://guest:guest@127.0.0.1:${port}` };
    case 'nats':
      return { start: startNats, urlOf: (port: number) => `nats://127.0.0.1:${port}` };
    default:
      return {
        start: (folder: string) => startPostgres(folder, inMemory.postgres),
        urlOf: (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`,
      };
  }
}
