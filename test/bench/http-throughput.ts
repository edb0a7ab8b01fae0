import type { ServerKind } from './http-listeners.ts';
import { type Load, type LoadResult, openLoad } from './http-load.ts';
import { type ServerProcess, startServers } from './http-server-process.ts';
import { type Estimate, estimate, median, ratio } from './measure.ts';
import type { Finding, Section } from './report.ts';

export interface ThroughputOptions {
  readonly requests: readonly Buffer[];
  readonly rounds: number;
  readonly roundMs: number;
  /** Requests to each server before any is timed: the engine compiles while they come. */
  readonly warmup: number;
}

interface Round extends LoadResult {
  /** Microseconds of CPU for each request: the same where nothing else runs, and still true where something does. */
  readonly cpu: number;
}

type Rounds = Readonly<Record<string, readonly Round[]>>;

interface Comparison {
  readonly title: string;
  readonly ours: ServerKind;
  /** At least so many % of the requests that these answer in a second of CPU; without a number it is only shown. */
  readonly against: readonly (readonly [what: string, other: ServerKind, atLeast?: number])[];
}

const comparisons: readonly Comparison[] = [
  {
    title: 'webhooks.node',
    ours: 'webhooks',
    against: [
      ['of a server with createHmac, hash and JSON.parse alone', 'least', 70],
      ["of one with stripe's constructEvent and a handler, which gets nothing twice", 'stripe once', 80],
      ['of a bare one', 'bare'],
    ],
  },
  {
    title: 'webhooks.fetch behind the least adapter',
    ours: 'webhooks fetch',
    against: [['of a bare server of Request and Response', 'bare fetch', 60]],
  },
];

/** Requests that webhooks answer in a second of CPU, as a share of what other servers in the same process answer. */
export async function benchThroughput(options: ThroughputOptions): Promise<Section[]> {
  const kinds = comparisons.flatMap(({ ours, against }) => [ours, ...against.map(([, other]) => other)]);
  await using servers = await startServers(kinds);
  const connections = 32;
  const rounds = await measureInTurns(servers, { ...options, connections });
  return comparisons.map(({ title, ours, against }) => ({
    title: `${title}, ${connections} connections: requests for each second of CPU`,
    findings: [
      ...against.map(
        ([what, other, atLeast]): Finding => ({
          what,
          measured: share(rounds, ours, other),
          atLeast,
          unit: '%',
        }),
      ),
      ...figuresOf(rounds[ours] ?? []),
    ],
  }));
}

/** Short rounds, one server after the other, each time beginning with another one. */
export async function measureInTurns(
  servers: ServerProcess,
  { requests, connections, warmup, rounds, roundMs }: ThroughputOptions & { readonly connections: number },
): Promise<Rounds> {
  const loads: [kind: string, load: Load][] = [];
  const measured: Record<string, Round[]> = {};
  for (const [kind, port] of Object.entries(servers.ports)) {
    const load = await openLoad({ port, requests, connections });
    loads.push([kind, load]);
    measured[kind] = [];
    await load.run({ count: warmup });
  }
  for (let round = 0; round < rounds; round++) {
    const first = round % loads.length;
    for (const [kind, load] of [...loads.slice(first), ...loads.slice(0, first)]) {
      const before = await servers.cpuMs();
      const result = await load.run({ ms: roundMs });
      const after = await servers.cpuMs();
      measured[kind]?.push({ ...result, cpu: ((after - before) * 1000) / result.answered });
    }
  }
  for (const [, load] of loads) load.close();
  return measured;
}

function share(rounds: Rounds, of: string, against: string): Estimate {
  const { value, noise } = ratio(cpuOf(rounds[against] ?? []), cpuOf(rounds[of] ?? []));
  return { value: value * 100, noise: noise * 100 };
}

function figuresOf(rounds: readonly Round[]): Finding[] {
  return [
    { what: 'CPU for each request', measured: estimate(cpuOf(rounds)), unit: 'µs' },
    {
      what: 'requests answered on one core',
      measured: estimate(rounds.map(({ answered, ms }) => (answered / ms) * 1000)),
      unit: '/s',
    },
    { what: '99 of 100 within', measured: median(rounds.map(({ p99 }) => p99)), unit: 'ms' },
  ];
}

function cpuOf(rounds: readonly Round[]): number[] {
  return rounds.map(({ cpu }) => cpu);
}
