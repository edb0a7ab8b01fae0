import { parseArgs } from 'node:util';
import { makeRequests } from './http-requests.ts';
import { benchThroughput } from './http-throughput.ts';
import { pin } from './pin.ts';
import { report } from './report.ts';

/*
 * What webhooks.node and webhooks.fetch cost over HTTP, beside servers that do less with the same deliveries.
 */

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    'round-ms': { type: 'string', default: '100' },
  },
});

// The servers are on the other core.
if (!pin(process.pid, 1)) console.log('taskset cannot pin processes here: servers and load share all cores.');
console.log('Deliveries of 923 bytes over kept connections; medians of rounds in turns, in one process.');
report(
  await benchThroughput({
    requests: makeRequests(20_000),
    rounds: Number(flags.rounds),
    roundMs: Number(flags['round-ms']),
    warmup: 5_000,
  }),
);
