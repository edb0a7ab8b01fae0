import { onTestFinished } from 'vitest';
import { type PrivateServer, startPostgres, startRedis } from './private-server.ts';
import { scratchFolder } from './scratch.ts';

/** A Redis that one test may kill; it is gone when the test is over. */
export function startOwnRedis(...options: string[]): Promise<PrivateServer> {
  return untilFinished(startRedis(scratchFolder(), options));
}

/** A PostgreSQL that one test may kill; it is gone when the test is over. */
export function startOwnPostgres(): Promise<PrivateServer> {
  return untilFinished(startPostgres(scratchFolder()));
}

async function untilFinished(starting: Promise<PrivateServer>): Promise<PrivateServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}
