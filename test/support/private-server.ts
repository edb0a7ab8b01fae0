import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

/** A Redis or PostgreSQL of our own, on its own port and in its own folder; never the machine's. */
export interface PrivateServer {
  readonly port: number;
  /** Killed with SIGKILL, and started again on what is on its disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Writes every command to disk before it answers. */
export async function startRedis(folder: string): Promise<PrivateServer> {
  const port = await freePort();
  const options = [
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--save',
    '',
    '--maxmemory-policy',
    'noeviction',
  ];
  return await keepRunning(port, () =>
    spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...options], {
      stdio: 'ignore',
    }),
  );
}

export async function startPostgres(folder: string): Promise<PrivateServer> {
  const port = await freePort();
  const data = join(folder, 'postgres');
  // PostgreSQL does not run as root.
  const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
  mkdirSync(data, { mode: 0o700 });
  if (user !== undefined) {
    chownSync(folder, user.uid, user.gid);
    chownSync(data, user.uid, user.gid);
  }
  const bin = postgresFolder();
  const quiet = { ...user, stdio: 'ignore', cwd: folder } as const;
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], quiet);
  return await keepRunning(port, () =>
    spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder], quiet),
  );
}

async function keepRunning(port: number, start: () => ChildProcess): Promise<PrivateServer> {
  let server = start();
  await listening(port);
  return {
    port,
    async restart() {
      await kill(server);
      // Its children may still hold the port for a moment.
      for (let tries = 0; tries < 50; tries++) {
        server = start();
        if (await Promise.race([listening(port).then(() => true), once(server, 'exit').then(() => false)]))
          return;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      throw new Error('The server did not start again.');
    },
    stop: () => kill(server),
  };
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill('SIGKILL');
  await gone;
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing listens at ${port}.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function postgresFolder(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`There is no PostgreSQL server in ${root}.`);
  return join(root, newest, 'bin');
}
