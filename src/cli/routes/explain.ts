import type { ExplainFlags } from '../commands/explain.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { purposeFlag } from './signing-flags.ts';
import { synopses } from './synopses.ts';

export const explainCommand = defineCommand<ExplainFlags, [path?: string]>({
  brief: synopses.explain.brief,
  about:
    'Says what would have matched, where the text differs from what a framework writes, and what to do. Exits with 0 only if nothing is off.',
  examples: ['partner-exchange explain event.json', 'partner-exchange explain --format json < event.json'],
  parameters: {
    flags: { purpose: purposeFlag, ...signingFlags, ...formatFlags, ...commonFlags },
    positional: {
      kind: 'tuple',
      parameters: [
        {
          brief: 'A raw body or a saved delivery (default: stdin)',
          placeholder: 'file',
          parse: String,
          optional: true,
        },
      ],
    },
  },
  load: async () => (await import('../commands/explain.ts')).explain,
});
