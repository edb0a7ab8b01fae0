import {
  type ChildProcess,
  type ExecFileSyncOptions,
  execFileSync,
  spawn,
  spawnSync,
} from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';

/** A server of our own, on its own port and in its own folder; never the machine's. */
export interface PrivateServer {
  readonly port: number;
  /** Killed with SIGKILL, and started again on what is on its disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** What `startRedis` would lack on this machine. */
export function missingForRedis(path = process.env.PATH): string | undefined {
  return folderWith('redis-server', path) === undefined ? 'redis-server' : undefined;
}

/** What `startPostgres` would lack on this machine. */
export function missingForPostgres(): string | undefined {
  if (postgresFolder() === undefined) return 'PostgreSQL server (initdb and postgres)';
  if (isRoot() && idsOf('postgres') === undefined) return 'user "postgres" to run PostgreSQL as';
  return undefined;
}

/** What `startRabbitmq` would lack on this machine. */
export function missingForRabbitmq(): string | undefined {
  return existsSync(rabbitmqServer) ? undefined : 'RabbitMQ server (/usr/lib/rabbitmq)';
}

/** What `startNats` would lack on this machine. */
export function missingForNats(): string | undefined {
  return folderWith('nats-server') === undefined ? 'nats-server' : undefined;
}

const rabbitmqServer = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** It takes a few seconds. The Erlang port mapper that it needs is the machine's, or is started and stays. */
export async function startRabbitmq(folder: string): Promise<PrivateServer> {
  const port = await freePort();
  const settings = join(folder, 'rabbitmq.conf');
  writeFileSync(settings, `listeners.tcp.local = 127.0.0.1:${port}\nlog.console = false\n`);
  const env = {
    ...process.env,
    HOME: folder,
    RABBITMQ_NODENAME: `test${port}@localhost`,
    RABBITMQ_DIST_PORT: String(await freePort()),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONFIG_FILE: settings,
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
  };
  // A script, which waits for the server: both are one process group.
  return await keepRunning(port, 'SIGTERM', () =>
    spawn(rabbitmqServer, { cwd: folder, env, stdio: 'ignore', detached: true }),
  );
}

/** With JetStream, which writes each message to disk before it confirms it. */
export async function startNats(folder: string): Promise<PrivateServer> {
  const port = await freePort();
  const options = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', join(folder, 'nats')];
  return await keepRunning(port, 'SIGTERM', () => spawn('nats-server', options, { stdio: 'ignore' }));
}

/** Writes every command to disk before it answers. @param further options, which come last */
export async function startRedis(folder: string, further: readonly string[] = []): Promise<PrivateServer> {
  const missing = missingForRedis();
  if (missing !== undefined) throw new Error(`There is no ${missing}.`);
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
    ...further,
  ];
  return await keepRunning(port, 'SIGTERM', () =>
    spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...options], {
      stdio: 'ignore',
    }),
  );
}

/** Writes every commit to disk before it answers. @param further options, which come last */
export async function startPostgres(folder: string, further: readonly string[] = []): Promise<PrivateServer> {
  const port = await freePort();
  const data = join(folder, 'postgres');
  // PostgreSQL does not run as root.
  const user = isRoot() ? idsOf('postgres') : undefined;
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const bin = postgresFolder();
  if (bin === undefined) throw new Error(`There is no ${missingForPostgres()}.`);
  const quiet = { ...user, stdio: 'ignore', cwd: folder } as const;
  makeCluster(bin, data, quiet);
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, ...further];
  // SIGQUIT ends its children and frees its shared memory, without a checkpoint.
  const server = await keepRunning(port, 'SIGQUIT', () => spawn(join(bin, 'postgres'), options, quiet));
  // It listens before it accepts connections.
  const isReady = ['-q', '-h', '127.0.0.1', '-p', String(port)];
  for (let tries = 0; spawnSync(join(bin, 'pg_isready'), isReady).status !== 0; tries++) {
    if (tries === 300) throw new Error(`PostgreSQL at ${port} accepts no connections.`);
    // real time: looks again until it is there.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return server;
}

/** The files of an empty database: `initdb` takes a second, so what it made once is copied. */
function makeCluster(bin: string, data: string, quiet: ExecFileSyncOptions): void {
  const owner = process.getuid?.() ?? 0;
  const made = join(cache, `postgres-${owner}-${bin.replaceAll(/\W+/g, '-')}`);
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to]);
  if (existsSync(made)) return void copy(made, data);
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], quiet);
  mkdirSync(cache, { recursive: true });
  copy(data, `${made}-${process.pid}`);
  try {
    renameSync(`${made}-${process.pid}`, made);
  } catch {
    // Another process was first.
    rmSync(`${made}-${process.pid}`, { recursive: true, force: true });
  }
}

const cache = join(import.meta.dirname, '../../node_modules/.cache');

async function keepRunning(
  port: number,
  stopSignal: NodeJS.Signals,
  start: () => ChildProcess,
): Promise<PrivateServer> {
  let server = start();
  await listening(port);
  return {
    port,
    async restart() {
      await end(server, 'SIGKILL');
      // Its children may still hold the port for a moment.
      for (let tries = 0; tries < 50; tries++) {
        server = start();
        if (await Promise.race([listening(port).then(() => true), once(server, 'exit').then(() => false)]))
          return;
        // real time: looks again until it is there.
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      throw new Error('The server did not start again.');
    },
    stop: () => end(server, stopSignal),
  };
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  kill(server, signal);
  // real time: a server that does not end in order is killed.
  const impatience = setTimeout(() => kill(server, 'SIGKILL'), 3_000);
  await gone;
  clearTimeout(impatience);
}

/** With the process group of its own that RabbitMQ has. */
function kill(server: ChildProcess, signal: NodeJS.Signals): void {
  const isGroup = server.spawnfile === rabbitmqServer && server.pid !== undefined;
  if (!isGroup) server.kill(signal);
  else if (server.pid !== undefined) process.kill(-server.pid, signal);
}

async function listening(port: number): Promise<void> {
  // A RabbitMQ on a busy machine can take over a minute.
  for (let tries = 0; tries < 2_000; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    // real time: looks again until it is there.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing listens at ${port}.`);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function idsOf(user: string): { uid: number; gid: number } | undefined {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/** Debian and Ubuntu keep the server's programs off the PATH. */
function postgresFolder(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const folders = versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? folderWith('initdb');
}

function folderWith(program: string, path = process.env.PATH): string | undefined {
  const folders = (path ?? '').split(delimiter);
  return folders.find((folder) => folder !== '' && existsSync(join(folder, program)));
}
