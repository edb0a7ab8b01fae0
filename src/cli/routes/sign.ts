import type { SignFlags } from '../commands/sign.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { merchantFlag, purposeFlag } from './signing-flags.ts';
import { synopses } from './synopses.ts';

export const signCommand = defineCommand<SignFlags, [path?: string]>({
  brief: synopses.sign.brief,
  about:
    'Signs the JSON object in a file or on stdin, and prints the text to post. It is written anew: post what is printed, not the file.',
  examples: [
    'partner-exchange sign order.json > signed.json',
    'partner-exchange sign --purpose general --keys keys.json < body.json',
  ],
  parameters: {
    flags: { purpose: purposeFlag, merchant: merchantFlag, ...signingFlags, ...formatFlags, ...commonFlags },
    positional: {
      kind: 'tuple',
      parameters: [
        { brief: 'The body (default: stdin)', placeholder: 'file', parse: String, optional: true },
      ],
    },
  },
  load: async () => (await import('../commands/sign.ts')).sign,
});
