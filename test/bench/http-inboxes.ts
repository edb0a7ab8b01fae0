import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type PrivateServer, startPostgres, startRedis } from '../support/private-server.ts';
import { type LoadResult, openLoad } from './http-load.ts';
import { pin } from './pin.ts';
import type { Finding, Section } from './report.ts';

/** The inboxes, and what makes each acknowledgement durable here. */
const inboxKinds = {
  memory: 'before it is acknowledged',
  sqlite: 'WAL, synchronous=FULL',
  redis: 'Redis with appendonly yes, appendfsync always',
  postgres: 'PostgreSQL with fsync and synchronous_commit on',
} as const;
export type InboxKind = keyof typeof inboxKinds;

/** Where the stores are. */
export interface InboxPlace {
  readonly folder: string;
  readonly redisPort: number;
  readonly postgresUrl: string;
}

interface Measured extends LoadResult {
  /** Handled a second, from the first request until nothing was left. */
  readonly handledPerSecond: number;
}

/**
 * How many deliveries a second each inbox acknowledges, and how many it handles, in one process with its worker. The
 * stores write to disk before they answer: Redis and PostgreSQL are started for this, with that configuration.
 */
export async function compareInboxes(options: {
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly deliveries: number;
}): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-inboxes-'));
  // PostgreSQL gets one of its own, which is its user's then.
  const postgresFolder = mkdtempSync(join(tmpdir(), 'bench-inboxes-'));
  const servers: PrivateServer[] = [];
  // The stores run on the core of the load and on that of the receiver.
  pin(process.pid, 0, 1);
  try {
    const redis = await startRedis(folder);
    servers.push(redis);
    const postgres = await startPostgres(postgresFolder);
    servers.push(postgres);
    pin(process.pid, 1);
    const postgresUrl = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
    const place = { folder, redisPort: redis.port, postgresUrl };
    const findings: Finding[] = [];
    for (const [kind, keptBy] of Object.entries(inboxKinds)) {
      const { answered, ms, p99, handledPerSecond } = await measure(kind, place, options);
      findings.push(
        { what: `${kind}: acknowledged`, measured: (answered / ms) * 1000, unit: '/s' },
        { what: `  handled (${keptBy})`, measured: handledPerSecond, unit: '/s' },
        { what: '  99 of 100 acknowledged within', measured: p99, unit: 'ms' },
      );
    }
    return {
      title: `${options.deliveries} deliveries into each inbox, with a handler that does nothing`,
      findings,
    };
  } finally {
    for (const server of servers) await server.stop();
    for (const made of [folder, postgresFolder]) rmSync(made, { recursive: true, force: true });
  }
}

async function measure(
  kind: string,
  place: InboxPlace,
  options: {
    readonly requests: readonly Buffer[];
    readonly connections: number;
    readonly deliveries: number;
  },
): Promise<Measured> {
  const { requests, connections, deliveries } = options;
  const child = fork(join(import.meta.dirname, 'http-inbox-server.ts'), [kind, JSON.stringify(place)]);
  try {
    const [port] = await once(child, 'message');
    pin(child.pid, 0);
    // Every delivery is a new one; as many as are measured warm up.
    const warmup = deliveries;
    if (requests.length < warmup + deliveries) throw new Error('There are too few different requests.');
    const load = await openLoad({ port, requests, connections });
    await load.run({ count: warmup });
    await handledAll(child, warmup);
    const begun = performance.now();
    const result = await load.run({ count: deliveries });
    load.close();
    await handledAll(child, warmup + deliveries);
    return { ...result, handledPerSecond: (deliveries / (performance.now() - begun)) * 1000 };
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

async function handledAll(child: ChildProcess, expected: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    child.send('handled');
    const [handled] = await once(child, 'message');
    if (handled >= expected) return;
    if (performance.now() > deadline) throw new Error(`Only ${handled} of ${expected} were handled.`);
    await setTimeout(20);
  }
}
