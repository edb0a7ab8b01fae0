import { abortRequests } from '../webhooks/http/aborted/abort-requests.ts';
import { openLoad } from './http-load.ts';
import { startServers } from './http-server-process.ts';
import type { Usage } from './http-servers.ts';
import type { Finding, Section } from './report.ts';

/** Megabytes that memory may grow by once it has settled. */
const memoryBudget = 2;

/** Memory of webhooks.node while deliveries come, after a collection at each tenth of them. */
export async function benchMemory(requests: readonly Buffer[], deliveries: number): Promise<Section> {
  await using servers = await startServers(['webhooks']);
  const load = await openLoad({ port: servers.ports.webhooks ?? 0, requests, connections: 32 });
  const samples: Usage[] = [];
  while (samples.length < 10) {
    await load.run({ count: deliveries / 10 });
    samples.push(await servers.usage('memory'));
  }
  load.close();
  // By then the digests of the newest 10,000 are all that is kept.
  const settled = samples[Math.max(1, Math.ceil((10 * 30_000) / deliveries) - 1)];
  const growth = (samples.at(-1)?.memory ?? Number.NaN) - (settled?.memory ?? Number.NaN);
  return {
    title: `memory over ${deliveries} deliveries`,
    findings: [
      ...samples.map(({ memory }, tenth): Finding => {
        return { what: `heap after ${tenth + 1}0 %`, measured: megabytes(memory), unit: 'MB' };
      }),
      { what: 'resident at the end', measured: megabytes(samples.at(-1)?.rss ?? Number.NaN), unit: 'MB' },
      {
        what: 'growth once settled',
        measured: megabytes(growth),
        atMost: memoryBudget,
        unit: 'MB',
      },
    ],
  };
}

/** What so many requests leave behind that are broken off at once, three times. */
export async function benchAborted(concurrent: number): Promise<Section[]> {
  const sections: Section[] = [];
  for (const transport of ['node', 'fetch'] as const) {
    const { atRest, afterFirst, afterLast } = await abortRequests({ transport, concurrent, waves: 3 });
    const left = (count: number) => (count / concurrent) * 100;
    sections.push({
      title: `${concurrent} requests broken off at once, three times, to webhooks.${transport}`,
      findings: [
        { what: 'still under way', measured: left(afterLast.pending), atMost: 0, unit: '%' },
        {
          what: 'handles left open',
          measured: left(afterLast.handles - atRest.handles),
          atMost: 0,
          unit: '%',
        },
        {
          what: 'memory above that after the first time',
          measured: megabytes(afterLast.memory - afterFirst.memory),
          atMost: memoryBudget,
          unit: 'MB',
        },
      ],
    });
  }
  return sections;
}

function megabytes(bytes: number): number {
  return bytes / 1_000_000;
}
