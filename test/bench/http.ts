import { parseArgs } from 'node:util';
import { compareInboxes } from './http-inboxes.ts';
import { benchAborted, benchMemory } from './http-long.ts';
import { makeRequests } from './http-requests.ts';
import { benchThroughput } from './http-throughput.ts';
import { pin } from './pin.ts';
import { report, type Section } from './report.ts';

/*
 * What webhooks.node and webhooks.fetch cost over HTTP, beside servers that do less with the same deliveries. The long
 * runs come instead, with their option.
 */

const { values: flags } = parseArgs({
  options: {
    /** Over 500,000 deliveries. */
    memory: { type: 'boolean', default: false },
    /** 10,000 requests broken off at once, each with a descriptor in both processes. */
    aborted: { type: 'boolean', default: false },
    /** 20,000 deliveries into each inbox. */
    inboxes: { type: 'boolean', default: false },
    /** Writes the chart of docs/details/scale.md. */
    plot: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '30' },
    'round-ms': { type: 'string', default: '100' },
  },
});

// The servers are on the other core.
if (!pin(process.pid, 1)) console.log('taskset cannot pin processes here: servers and load share all cores.');
const requests = makeRequests(flags.inboxes ? 40_000 : 20_000);
const sections: Section[] = [];
if (flags.memory) sections.push(await benchMemory(requests, 500_000));
if (flags.aborted) sections.push(...(await benchAborted(10_000)));
if (flags.inboxes) sections.push(await compareInboxes({ requests, connections: 32, deliveries: 20_000 }));
if (sections.length === 0) {
  console.log('Deliveries of 923 bytes over kept connections; medians of rounds in turns, in one process.');
  const sampling = { rounds: Number(flags.rounds), roundMs: Number(flags['round-ms']), warmup: 5_000 };
  sections.push(...(await benchThroughput({ requests, ...sampling })));
}
report(sections, flags);
