import type { PinFlags } from '../commands/pin.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { samples } from './samples.ts';
import { synopses } from './synopses.ts';

export const pinCommand = defineCommand<PinFlags, string[]>({
  brief: synopses.pin.brief,
  about:
    'Prints a pin: the scheme, and the samples that prove it. The scheme is that of --scheme or of the environment; without either it is searched. The pin keeps the bodies as they are: check what they hold before you commit it. With --check it checks a pin, and further samples.',
  examples: [
    'partner-exchange pin event.json > signature-pin.json',
    'partner-exchange pin --check signature-pin.json',
    'partner-exchange pin --check signature-pin.json ./events',
  ],
  parameters: {
    flags: {
      check: {
        kind: 'parsed',
        parse: String,
        placeholder: 'pin',
        brief: 'Check this pin instead of making one',
        optional: true,
      },
      ...signingFlags,
      ...formatFlags,
      ...commonFlags,
    },
    positional: samples,
  },
  load: async () => (await import('../commands/pin.ts')).pin,
});
