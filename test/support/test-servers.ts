import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { missingForPostgres, missingForRedis } from './private-server.ts';

/** Where a server is, or what this machine lacks to start one. */
export type TestServer = { readonly url: string } | { readonly missing: string };

export interface TestServers {
  readonly redis: TestServer;
  readonly postgres: TestServer;
  /** Ends those that were started here, and removes their files. */
  stop(): Promise<void>;
}

const variables = { redis: 'TEST_REDIS_URL', postgres: 'TEST_POSTGRES_URL' } as const;
type ServerName = keyof typeof variables;

/**
 * A Redis and a PostgreSQL for the tests: those in the environment (`TEST_REDIS_URL`, `TEST_POSTGRES_URL`), otherwise
 * private ones on free ports. Never what happens to listen on the usual ports: it may be somebody's own.
 */
export async function startTestServers(env: NodeJS.ProcessEnv = process.env): Promise<TestServers> {
  const missing = { redis: missingForRedis(env.PATH), postgres: missingForPostgres() };
  const given = { redis: env[variables.redis], postgres: env[variables.postgres] };
  await Promise.all([expectListening('redis', given.redis), expectListening('postgres', given.postgres)]);
  const names: ServerName[] = ['redis', 'postgres'];
  const toStart = names.filter((name) => given[name] === undefined && missing[name] === undefined);
  const { urls, stop } = await startPrivate(toStart);
  const serverOf = (name: ServerName): TestServer => {
    const url = given[name] ?? urls[name];
    if (url !== undefined) return { url };
    return { missing: `${missing[name]} here, and ${variables[name]} is not set` };
  };
  return { redis: serverOf('redis'), postgres: serverOf('postgres'), stop };
}

async function expectListening(name: ServerName, url: string | undefined): Promise<void> {
  if (url === undefined) return;
  if (!URL.canParse(url)) throw new Error(`${variables[name]} is not a URL.`);
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port || (name === 'redis' ? 6379 : 5432)) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(5_000) });
  } catch (cause) {
    // The host alone: the rest of the address may hold a password.
    throw new Error(`Nothing answers at ${host}, which ${variables[name]} names.`, { cause });
  } finally {
    socket.destroy();
  }
}

/**
 * The servers run below a process of their own, which ends them when its standard input does: so they end with us,
 * also when we are killed.
 */
async function startPrivate<Name extends ServerName | 'rabbitmq' | 'nats'>(names: readonly Name[]) {
  if (names.length === 0) return { urls: {} as Partial<Record<Name, string>>, stop: async () => {} };
  const program = join(import.meta.dirname, 'run-servers.ts');
  // In a process group of its own, so that ctrl-C does not end the servers before the tests that use them.
  const keeper = spawn(process.execPath, [program, ...names], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(keeper, 'exit');
  const started = once(keeper.stdout, 'data');
  const [line] = await Promise.race([started, gone.then(() => [undefined])]);
  if (line === undefined)
    throw new Error(
      `The servers for the tests did not start. ${Object.values(variables).join(' and ')} can name others.`,
    );
  return {
    // Sound: run-servers.ts prints it, in one write.
    urls: JSON.parse(String(line)) as Partial<Record<Name, string>>,
    async stop() {
      keeper.stdin.end();
      await gone;
    },
  };
}
