import type { Shell } from '../commands/completion.ts';
import { type CommonFlags, commonFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { oneOf } from './parse-flag.ts';
import { synopses } from './synopses.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const satisfies readonly Shell[];

export const completionCommand = defineCommand<CommonFlags, [shell: Shell]>({
  brief: synopses.completion.brief,
  about: 'Prints a script for bash, zsh, fish or powershell. The command has to be on the PATH.',
  examples: [
    'partner-exchange completion bash >> ~/.bashrc',
    'partner-exchange completion zsh >> ~/.zshrc',
    'partner-exchange completion fish > ~/.config/fish/completions/partner-exchange.fish',
    'partner-exchange completion powershell >> $PROFILE',
  ],
  parameters: {
    flags: { ...commonFlags },
    positional: {
      kind: 'tuple',
      parameters: [
        {
          brief: shells.join(', '),
          placeholder: 'shell',
          parse: oneOf(shells),
          proposeCompletions: () => shells,
        },
      ],
    },
  },
  load: async () => (await import('../commands/completion.ts')).completion,
});
