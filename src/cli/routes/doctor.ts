import type { DoctorFlags } from '../commands/doctor.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { webAddress, wholeNumber } from './parse-flag.ts';
import { synopses } from './synopses.ts';

const files = { kind: 'parsed', parse: String, variadic: true, optional: true } as const;

export const doctorCommand = defineCommand<DoctorFlags>({
  brief: synopses.doctor.brief,
  about:
    'Checks the runtime, the environment, the keys, the addresses, the clock, the pinned scheme, the callback, the versions of optional peers, and the files of inboxes and stores. It changes nothing. Exits with 1 if a check fails; what cannot be reached is skipped, unless --strict is given.',
  examples: [
    'partner-exchange doctor',
    'partner-exchange doctor --callback https://partner.example/orders --strict',
    'partner-exchange doctor --inbox events.db --format json',
  ],
  parameters: {
    flags: {
      callback: {
        kind: 'parsed',
        parse: webAddress,
        placeholder: 'url',
        brief: 'Your receiver: gets four requests that it must refuse',
        optional: true,
      },
      sendAuthentic: {
        kind: 'boolean',
        brief: 'Also send it one authentic event, about an order that does not exist',
        default: false,
        withNegated: false,
      },
      inbox: { ...files, placeholder: 'file', brief: 'A file of a SQLite inbox' },
      store: { ...files, placeholder: 'file', brief: 'A file of a SQLite store' },
      samples: { ...files, placeholder: 'file', brief: 'Recent signed bodies, which must fit the pin' },
      strict: {
        kind: 'boolean',
        brief: 'What cannot be reached fails',
        default: false,
        withNegated: false,
      },
      timeoutMs: {
        kind: 'parsed',
        parse: wholeNumber(1, 600_000),
        placeholder: 'ms',
        brief: 'How long to wait for each answer',
        default: '5000',
      },
      ...signingFlags,
      ...formatFlags,
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/doctor.ts')).doctor,
});
