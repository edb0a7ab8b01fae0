import type { ListenFlags } from '../commands/listen.ts';
import { commonFlags, formatFlags, hostFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { port, webAddress, wholeNumber } from './parse-flag.ts';
import { synopses } from './synopses.ts';

export const listenCommand = defineCommand<ListenFlags>({
  brief: synopses.listen.brief,
  about:
    'Receives events at any path and prints a line for each. With --forward-to it posts the exact bytes and headers to your receiver, and the sender gets its answer; while your receiver is down, authentic events are kept on the disk and forwarded later. With --save every event is kept as a file for replay, verify, detect and pin. Without keys nothing is verified. The inspector, a page of its own on this machine, shows what came, what was answered and why a signature does not match, and replays events.',
  examples: [
    'partner-exchange listen --forward-to http://127.0.0.1:3000/orders',
    'partner-exchange listen --port 4100 --save ./events --format json',
    'partner-exchange listen --allow-host my-tunnel.example --save ./events',
  ],
  parameters: {
    flags: {
      port: {
        kind: 'parsed',
        parse: port,
        placeholder: 'number',
        brief: 'Where to listen; 0 is any free port',
        default: '4100',
      },
      ...hostFlags,
      forwardTo: {
        kind: 'parsed',
        parse: webAddress,
        placeholder: 'url',
        brief: 'Your receiver',
        optional: true,
      },
      save: {
        kind: 'parsed',
        parse: String,
        placeholder: 'folder',
        brief: 'Keep every event here; it holds personal data',
        optional: true,
      },
      maxBodyBytes: {
        kind: 'parsed',
        parse: wholeNumber(1, 64 * 1024 * 1024),
        placeholder: 'bytes',
        brief: 'Longest body',
        default: '1048576',
      },
      timeoutMs: {
        kind: 'parsed',
        parse: wholeNumber(1, 600_000),
        placeholder: 'ms',
        brief: 'How long your receiver may take',
        default: '10000',
      },
      inspectorPort: {
        kind: 'parsed',
        parse: port,
        placeholder: 'number',
        brief: 'Where the page of what was received is, on this machine alone; 0 is any free port',
        default: '0',
      },
      ...signingFlags,
      ...formatFlags,
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/listen.ts')).listen,
});
