import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { choiceArg, commonFlags } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export default defineCommand({
  brief: 'Print a script that completes commands in a shell',
  about: 'Prints a script for bash, zsh, fish or powershell. The command has to be on the PATH.',
  examples: [
    'partner-exchange completion bash >> ~/.bashrc',
    'partner-exchange completion zsh >> ~/.zshrc',
    'partner-exchange completion fish > ~/.config/fish/completions/partner-exchange.fish',
    'partner-exchange completion powershell >> $PROFILE',
  ],
  flags: commonFlags,
  args: [choiceArg('shell', shells, shells.join(', '))],
  async run(context, _flags, shell) {
    openOutput(context).raw(scripts[shell]);
    return exitCodes.ok;
  },
});

/**
 * Each passes the words up to the cursor, the last one perhaps empty, to the hidden `__complete`, which prints one
 * proposal a line. Where it has none, the shell completes files.
 */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  // COMP_WORDS is no use here: it splits addresses at their colons.
  bash: `_partner_exchange() {
  local IFS=$' \\t\\n' words
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}"
  [[ \${COMP_LINE:COMP_POINT-1:1} == ' ' ]] && words+=('')
  IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(partner-exchange __complete "\${words[@]:1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _partner_exchange partner-exchange
`,
  zsh: `#compdef partner-exchange
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_partner_exchange() {
  local -a proposals
  proposals=("\${(@f)$(partner-exchange __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$proposals" ]]; then compadd -- $proposals; else _files; fi
}
compdef _partner_exchange partner-exchange
`,
  fish: `function __partner_exchange
  set -l proposals (partner-exchange __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q proposals[1]
    printf '%s\\n' $proposals
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c partner-exchange -f -a '(__partner_exchange)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName partner-exchange -ScriptBlock {
  param($word, $ast)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  partner-exchange __complete @words 2>$null | Where-Object { $_ -like "$word*" }
}
`,
};
