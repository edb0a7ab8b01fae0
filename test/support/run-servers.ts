import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PrivateServer, startPostgres, startRedis } from './private-server.ts';

/*
 * A program: starts the servers named by its arguments (redis, postgres), prints their addresses as one line of
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
  const server = await (name === 'redis'
    ? startRedis(folder, inMemory.redis)
    : startPostgres(folder, inMemory.postgres));
  servers.push(server);
  const { port } = server;
  return name === 'redis' ? `redis://127.0.0.1:${port}` : `postgres://postgres@127.0.0.1:${port}/postgres`;
}
