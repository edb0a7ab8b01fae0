import type { AttackFlags } from '../commands/attack.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { webAddress, wholeNumber } from './parse-flag.ts';
import { synopses } from './synopses.ts';

const ids = { kind: 'parsed', parse: String, placeholder: 'id', variadic: true, optional: true } as const;

export const attackCommand = defineCommand<AttackFlags, [url: URL]>({
  brief: synopses.attack.brief,
  about:
    'Sends forged, altered, malformed, huge, slow and repeated deliveries to a receiver in any language, with a verdict for each. Use test keys: the authentic ones among them are handled by your code, about orders whose ids begin with "probe-". Exits with 1 if the receiver is weak or broken.',
  examples: [
    'partner-exchange attack http://127.0.0.1:3000/orders',
    'partner-exchange attack http://127.0.0.1:3000/orders --format json',
    'partner-exchange attack https://test.partner.example/orders --i-own-this-host test.partner.example',
  ],
  parameters: {
    flags: {
      iOwnThisHost: {
        kind: 'parsed',
        parse: String,
        placeholder: 'name',
        brief: 'The name of the host, which says that it is yours; not needed for this machine',
        optional: true,
      },
      only: { ...ids, brief: 'Run this case alone, or some' },
      skip: { ...ids, brief: 'Leave this case out' },
      timeoutMs: {
        kind: 'parsed',
        parse: wholeNumber(1, 600_000),
        placeholder: 'ms',
        brief: 'How long an answer may take',
        default: '10000',
      },
      ...signingFlags,
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'Where your receiver listens', placeholder: 'url', parse: webAddress }],
    },
  },
  load: async () => (await import('../commands/attack.ts')).attack,
});
