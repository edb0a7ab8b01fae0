import type { ReplayFlags } from '../commands/replay.ts';
import { commonFlags, formatFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { postFlags } from './delivery-flags.ts';
import { synopses } from './synopses.ts';

export const replayCommand = defineCommand<ReplayFlags, string[]>({
  brief: synopses.replay.brief,
  about:
    'Posts the exact bytes and headers of saved deliveries, or of bare bodies as application/json, one after the other. Exits with 1 if one is not answered with 2xx.',
  examples: [
    'partner-exchange replay ./events --to http://127.0.0.1:3000/orders',
    'partner-exchange replay event.json --to http://127.0.0.1:3000/orders --format json',
  ],
  parameters: {
    flags: { ...postFlags, ...formatFlags, ...commonFlags },
    positional: {
      kind: 'array',
      minimum: 1,
      parameter: {
        brief: 'Saved deliveries, bare bodies, or folders of them',
        placeholder: 'file',
        parse: String,
      },
    },
  },
  load: async () => (await import('../commands/replay.ts')).replay,
});
