import { createHash } from 'node:crypto';
import { invalidOption } from '../../internal/options.ts';

/** The parts of a client of ioredis (5 or 6) that we use: a `Redis` or a `Cluster`. */
export interface IoredisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The parts of a client of node-redis (5 or later) that we use: of one server, a pool or a cluster. */
export interface NodeRedisClient {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function defineScript(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Reads are scripts too: clients of a cluster may send a plain read to a replica, which can be behind.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function scriptRunner(client: IoredisClient | NodeRedisClient) {
  const run = runWith(client);
  return async (script: Script, keys: readonly string[], values: readonly string[]): Promise<unknown> => {
    try {
      return await run('sha', script.sha, [...keys], [...values]);
    } catch (error) {
      // The server has lost its scripts, and ran nothing.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return await run('text', script.text, [...keys], [...values]);
    }
  };
}

type Run = (by: 'sha' | 'text', script: string, keys: string[], values: string[]) => Promise<unknown>;

function runWith(client: IoredisClient | NodeRedisClient): Run {
  if (typeof client?.eval === 'function') {
    if ('evalSha' in client && typeof client.evalSha === 'function') {
      return (by, script, keys, values) =>
        client[by === 'sha' ? 'evalSha' : 'eval'](script, { keys, arguments: values });
    }
    if ('evalsha' in client && typeof client.evalsha === 'function') {
      return (by, script, keys, values) =>
        client[by === 'sha' ? 'evalsha' : 'eval'](script, keys.length, ...keys, ...values);
    }
  }
  throw invalidOption('redisStore needs a client of ioredis (5 or later) or node-redis (5 or later).');
}

/** node-redis can be told to return buffers. */
export function toText(value: unknown): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value ?? '');
}
