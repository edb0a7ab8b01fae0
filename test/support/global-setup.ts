import type { TestProject } from 'vitest/node';
import { startTestServers, type TestServer } from './test-servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly redis: TestServer;
    readonly postgres: TestServer;
  }
}

/** One Redis and one PostgreSQL for the whole run of vitest; a test file gets them by `inject('redis')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { redis, postgres, stop } = await startTestServers();
  for (const [name, server] of Object.entries({ Redis: redis, PostgreSQL: postgres })) {
    if (!('missing' in server)) continue;
    const missing = `there is no ${server.missing}`;
    if (process.env.CI === 'true' || process.env.CI === '1') {
      await stop();
      throw new Error(`In CI the tests that need ${name} have to run, and ${missing}.`);
    }
    console.warn(`Skipping the tests that need ${name}: ${missing}.`);
  }
  project.provide('redis', redis);
  project.provide('postgres', postgres);
  return stop;
}
