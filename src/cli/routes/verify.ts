import type { VerifyFlags } from '../commands/verify.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { samples } from './samples.ts';
import { purposeFlag } from './signing-flags.ts';
import { synopses } from './synopses.ts';

export const verifyCommand = defineCommand<VerifyFlags, string[]>({
  brief: synopses.verify.brief,
  about:
    'Verifies raw bodies or saved deliveries with every key there is. Exits with 1 if one does not match: "explain" says why.',
  examples: [
    'partner-exchange verify event.json',
    'partner-exchange verify --format json ./events',
    'partner-exchange verify --purpose general < body.json',
  ],
  parameters: {
    flags: { purpose: purposeFlag, ...signingFlags, ...formatFlags, ...commonFlags },
    positional: samples,
  },
  load: async () => (await import('../commands/verify.ts')).verify,
});
