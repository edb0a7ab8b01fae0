import { parseArgs } from 'node:util';
import { compareInboxes } from './http-inboxes.ts';
import { makeRequests } from './http-requests.ts';
import { benchThroughput } from './http-throughput.ts';
import { pin } from './pin.ts';
import { report, type Section } from './report.ts';

/*
 * What webhooks.node and webhooks.fetch cost over HTTP, beside servers that do less with the same deliveries; with
 * `--inboxes` each inbox instead.
 */

const { values: flags } = parseArgs({
  options: {
    /** 20,000 deliveries into each inbox. */
    inboxes: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '30' },
    'round-ms': { type: 'string', default: '100' },
  },
});

// The servers are on the other core.
if (!pin(process.pid, 1)) console.log('taskset cannot pin processes here: servers and load share all cores.');
const requests = makeRequests(flags.inboxes ? 40_000 : 20_000);
const sections: Section[] = [];
if (flags.inboxes) sections.push(await compareInboxes({ requests, connections: 32, deliveries: 20_000 }));
if (sections.length === 0) {
  console.log('Deliveries of 923 bytes over kept connections; medians of rounds in turns, in one process.');
  const sampling = { rounds: Number(flags.rounds), roundMs: Number(flags['round-ms']), warmup: 5_000 };
  sections.push(...(await benchThroughput({ requests, ...sampling })));
}
report(sections);
