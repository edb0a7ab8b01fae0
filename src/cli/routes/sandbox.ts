import type { FaultScenario } from '../../sandbox/faults/fault-scenarios.ts';
import type { SandboxFlags } from '../commands/sandbox.ts';
import { commonFlags, formatFlags, hostFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { port } from './parse-flag.ts';
import { synopses } from './synopses.ts';

/** Typed against the scenarios, not read off them, which would load the sandbox for `--help`. */
const scenarios = {
  calm: true,
  bad_network: true,
  lost_replies: true,
  slow: true,
  rate_limited: true,
  bad_gateway: true,
  outage: true,
  repeated_events: true,
  shuffled_events: true,
  lost_events: true,
  attacked: true,
  strange_events: true,
  hostile: true,
} as const satisfies Record<FaultScenario, true>;

export const sandboxCommand = defineCommand<SandboxFlags>({
  brief: synopses.sandbox.brief,
  about:
    'Runs the service on this machine until it is stopped, and prints what to put into the environment: addresses, and the keys of a partner whose IP is whitelisted. They are made for this run and open nothing else. Each line on stdin moves an order: "A-1001 credited" (fiat_received, no_kyc, third_party_payment, third_party_error, credited, refunded).',
  examples: [
    'partner-exchange sandbox',
    'partner-exchange sandbox --seed 7 > sandbox.env',
    'partner-exchange sandbox --faults hostile --format json',
    'partner-exchange sandbox --data sandbox.sqlite --partner-from-env',
  ],
  parameters: {
    flags: {
      port: {
        kind: 'parsed',
        parse: port,
        placeholder: 'number',
        brief: 'Where to listen; 0 is any free port',
        default: '4200',
      },
      ...hostFlags,
      faults: {
        kind: 'enum',
        // Sound: the keys of the table above.
        values: Object.keys(scenarios) as FaultScenario[],
        brief: 'What goes wrong on the wire (docs/sandbox.md)',
        optional: true,
      },
      seed: {
        kind: 'parsed',
        parse: String,
        placeholder: 'text',
        brief: 'Fixes all that is random: the same keys and faults in every run',
        optional: true,
      },
      data: {
        kind: 'parsed',
        parse: String,
        placeholder: 'file',
        brief: 'SQLite file that keeps partners, orders and devices over restarts; holds keys as they are',
        optional: true,
      },
      partnerFromEnv: {
        kind: 'boolean',
        brief: 'Its partner has the keys of the environment: your program needs no others',
        default: false,
        withNegated: false,
      },
      open: {
        kind: 'boolean',
        brief: 'Open the inspector in the browser',
        default: false,
        withNegated: false,
      },
      ...formatFlags,
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/sandbox.ts')).sandbox,
});
