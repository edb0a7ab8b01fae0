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

const createHmacAlone = 'of a server with createHmac, hash and JSON.parse alone';
const constructEvent = "of one with stripe's constructEvent";
const constructEventOnce = '  and a handler, which gets nothing twice';

/**
 * The server with stripe's `constructEvent` is shown only: it waits for no handler and remembers nothing, and costs what
 * the least one does.
 */
function comparisonsAt(connections: number): Comparison[] {
  const isOne = connections === 1;
  return [
    {
      title: 'webhooks.node',
      ours: 'webhooks',
      against: [
        [createHmacAlone, 'least', 70],
        [constructEvent, 'stripe'],
        [constructEventOnce, 'stripe once', 80],
        ['of a bare one', 'bare'],
      ],
    },
    {
      title: 'webhooks.fetch behind the least adapter',
      ours: 'webhooks fetch',
      against: [
        ['of a bare server of Request and Response', 'bare fetch', isOne ? 55 : 60],
        [constructEvent, 'stripe fetch'],
        [constructEventOnce, 'stripe once fetch', isOne ? 75 : 85],
      ],
    },
    {
      title: 'webhooks.fetch behind @hono/node-server',
      ours: 'webhooks hono',
      against: [
        ['of a bare server of Request and Response', 'bare hono', isOne ? 55 : 60],
        [constructEvent, 'stripe hono'],
        [constructEventOnce, 'stripe once hono', isOne ? 75 : 85],
      ],
    },
  ];
}

/** Requests that webhooks answer in a second of CPU, as a share of what other servers in the same process answer. */
export async function benchThroughput(options: ThroughputOptions): Promise<Section[]> {
  const kinds = comparisonsAt(1).flatMap(({ ours, against }) => [ours, ...against.map(([, other]) => other)]);
  await using servers = await startServers(kinds);
  const sections: Section[] = [];
  for (const connections of [32, 1]) {
    const rounds = await measureInTurns(servers, { ...options, connections });
    for (const { title, ours, against } of comparisonsAt(connections)) {
      const shares = against.map(
        ([what, other, atLeast]): Finding => ({
          what,
          measured: share(rounds, ours, other),
          atLeast,
          unit: '%',
        }),
      );
      const atOnce = connections === 1 ? 'one connection' : `${connections} connections`;
      sections.push({
        title: `${title}, ${atOnce}: requests for each second of CPU`,
        findings: [...shares, ...figuresOf(rounds[ours] ?? [])],
      });
    }
  }
  return sections;
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
