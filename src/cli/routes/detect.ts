import type { DetectFlags } from '../commands/detect.ts';
import { commonFlags, formatFlags, keysFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { samples } from './samples.ts';
import { purposeFlag } from './signing-flags.ts';
import { synopses } from './synopses.ts';

export const detectCommand = defineCommand<DetectFlags, string[]>({
  brief: synopses.detect.brief,
  about:
    'Tries every known way to sign, offline, and prints those that fit all samples. Exits with 0 if exactly one does.',
  examples: ['partner-exchange detect event.json', 'partner-exchange detect --keys keys.json ./events'],
  parameters: {
    flags: { purpose: purposeFlag, ...keysFlags, ...formatFlags, ...commonFlags },
    positional: samples,
  },
  load: async () => (await import('../commands/detect.ts')).detect,
});
