import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { abortRequests } from '../webhooks/http/aborted/abort-requests.ts';
import { compareInboxes } from './http-inboxes.ts';
import { type LoadResult, runLoad } from './http-load.ts';
import { makeRequests } from './http-requests.ts';
import { type ServerKind, serverKinds, type Usage } from './http-server.ts';
import { median } from './measure.ts';
import { pin } from './pin.ts';

/*
 * How many deliveries a second webhooks.node takes, beside a bare server of node:http that reads and parses the same
 * bodies, one that also checks and narrows them, and one that runs stripe's constructEvent on them. The servers are
 * pinned to one core, the load to another.
 */

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    /** Requests to each server before any is timed: the engine compiles while they come. */
    warmup: { type: 'string', default: '50000' },
    'round-ms': { type: 'string', default: '1500' },
    connections: { type: 'string', default: '32' },
    /** Into each inbox; 0 leaves that part out. */
    stored: { type: 'string', default: '20000' },
    /** For the memory; 0 leaves that part out. */
    deliveries: { type: 'string', default: '500000' },
    /** Requests broken off at once, each with a descriptor in both processes; 0 leaves that part out. */
    aborted: { type: 'string', default: '10000' },
    check: { type: 'boolean', default: false },
  },
});
/** At least this share of what a bare server takes on one core (design: Budgets). */
const budget = 0.75;
/** Bytes that memory may grow by while deliveries come, when it has settled. */
const memoryBudget = 2_000_000;

interface Server {
  readonly port: number;
  readonly process: ChildProcess;
}

interface Round extends LoadResult {
  /** Of the time of the round that the server kept its core busy, from 0 to 1. */
  readonly busy: number;
}

const requests = makeRequests(Math.max(20_000, Number(flags.stored) * 2));
const connections = Number(flags.connections);
const isPinned = pin(process.pid, 1);
let over = 0;

console.log(`Deliveries of 923 bytes over ${connections} kept connections; medians of interleaved rounds.`);
if (!isPinned) console.log('(taskset cannot pin processes here: servers and load share all cores.)');
await compareThroughput();
if (Number(flags.stored) > 0) {
  await compareInboxes({ requests, connections, deliveries: Number(flags.stored) });
}
await watchMemory();
await breakOff();
console.log(over === 0 ? '\nEvery budget is kept.' : `\n${over} OVER budget.`);
if (over > 0 && flags.check) process.exitCode = 1;

async function compareThroughput(): Promise<void> {
  const servers = new Map<ServerKind, Server>();
  for (const kind of serverKinds) servers.set(kind, await startServer(kind));
  const rounds = new Map(serverKinds.map((kind): [ServerKind, Round[]] => [kind, []]));
  // The first round only warms up.
  for (let round = 0; round <= Number(flags.rounds); round++) {
    const first = round % serverKinds.length;
    for (const kind of [...serverKinds.slice(first), ...serverKinds.slice(0, first)]) {
      const server = servers.get(kind);
      if (server === undefined) continue;
      const before = await usageOf(server, 'cpu');
      const result = await runLoad({
        port: server.port,
        requests,
        connections,
        until: round === 0 ? { count: Number(flags.warmup) } : { ms: Number(flags['round-ms']) },
      });
      const { cpuMs } = await usageOf(server, 'cpu');
      if (round > 0) rounds.get(kind)?.push({ ...result, busy: (cpuMs - before.cpuMs) / result.ms });
    }
  }
  for (const server of servers.values()) await stop(server);
  const bare = rounds.get('bare') ?? [];
  console.log('\n  server      requests/s   of bare   for each s of CPU   of bare   p99 ms   core busy');
  for (const kind of serverKinds) {
    const own = rounds.get(kind) ?? [];
    const share = shareOf(own, bare, perSecond);
    // What one core takes: the same where nothing else runs on it, and still true where something does.
    const ofCore = shareOf(own, bare, perCpuSecond);
    const verdict = kind === 'webhooks' ? `  >= ${percent(budget)} ${ofCore >= budget ? 'ok' : 'OVER'}` : '';
    if (kind === 'webhooks' && !(ofCore >= budget)) over++;
    const columns = [
      kind.padEnd(10),
      median(own.map(perSecond)).toFixed(0).padStart(11),
      percent(share).padStart(9),
      median(own.map(perCpuSecond)).toFixed(0).padStart(19),
      percent(ofCore).padStart(9),
      median(own.map(({ p99 }) => p99))
        .toFixed(2)
        .padStart(8),
      percent(median(own.map(({ busy }) => busy))).padStart(11),
    ];
    console.log(`  ${columns.join(' ')}${verdict}`);
  }
  const stripe = rounds.get('stripe') ?? [];
  const ours = rounds.get('webhooks') ?? [];
  console.log(
    `  webhooks / stripe: ${percent(shareOf(ours, stripe, perCpuSecond))} of what it takes on one core`,
  );
}

async function watchMemory(): Promise<void> {
  const total = Number(flags.deliveries);
  if (total === 0) return;
  const steps = 10;
  const server = await startServer('webhooks');
  const samples: Usage[] = [];
  for (let step = 0; step < steps; step++) {
    await runLoad({ port: server.port, requests, connections, until: { count: total / steps } });
    samples.push(await usageOf(server, 'memory'));
  }
  await stop(server);
  // By then the digests of the newest 10,000 are all that is kept.
  const settled = samples[Math.max(1, Math.ceil((steps * 30_000) / total) - 1)] ?? samples[0];
  const growth = (samples.at(-1)?.memory ?? Number.NaN) - (settled?.memory ?? Number.NaN);
  if (!(growth <= memoryBudget)) over++;
  console.log(`\nmemory over ${total} deliveries, after a collection at each tenth, MB:`);
  console.log(`  heap  ${samples.map(({ memory }) => megabytes(memory)).join('  ')}`);
  console.log(`  rss   ${samples.map(({ rss }) => megabytes(rss)).join('  ')}`);
  const verdict = growth <= memoryBudget ? 'ok' : 'OVER';
  console.log(`  growth once settled: ${megabytes(growth)} MB  <= ${megabytes(memoryBudget)} MB  ${verdict}`);
}

async function breakOff(): Promise<void> {
  const concurrent = Number(flags.aborted);
  if (concurrent === 0) return;
  for (const transport of ['node', 'fetch'] as const) {
    const { atRest, atPeak, afterFirst, afterLast } = await abortRequests({
      transport,
      concurrent,
      waves: 3,
    });
    const growth = afterLast.memory - afterFirst.memory;
    const isClean = afterLast.pending === 0 && afterLast.handles <= atRest.handles && growth <= memoryBudget;
    if (!isClean) over++;
    console.log(
      `\n${concurrent} requests broken off at once, three times (${transport}): ${atPeak.pending} under way at the peak; ` +
        `after it ${afterLast.pending} under way, ${afterLast.handles} handles (${atRest.handles} at rest), ` +
        `memory ${megabytes(growth)} MB above that after the first time  ${isClean ? 'ok' : 'OVER'}`,
    );
  }
}

async function startServer(kind: ServerKind): Promise<Server> {
  const server = fork(join(import.meta.dirname, 'http-server.ts'), [kind]);
  const [port] = await once(server, 'message');
  pin(server.pid, 0);
  return { port, process: server };
}

async function stop(server: Server): Promise<void> {
  server.process.disconnect();
  await once(server.process, 'exit');
}

async function usageOf(server: Server, wanted: 'cpu' | 'memory'): Promise<Usage> {
  server.process.send(wanted);
  const [usage] = await once(server.process, 'message');
  return usage;
}

function perSecond({ answered, ms }: Round): number {
  return (answered / ms) * 1000;
}

function perCpuSecond({ answered, ms, busy }: Round): number {
  return (answered / (ms * busy)) * 1000;
}

/** The median over the rounds of one server's figure as a share of the other's in the same round. */
function shareOf(own: readonly Round[], other: readonly Round[], figure: (round: Round) => number): number {
  return median(
    own.map((round, index) => {
      const compared = other[index];
      return compared === undefined ? Number.NaN : figure(round) / figure(compared);
    }),
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
