import { openOutput } from '../output/output.ts';
import type { CommonFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

/** The shells that there is a script for. */
export type Shell = 'bash' | 'zsh' | 'fish' | 'powershell';

/** Prints the completion script of a shell. */
export const completion: RunCommand<CommonFlags, [shell: Shell]> = async (context, _flags, shell) => {
  openOutput(context).raw(scripts[shell]);
  return undefined;
};

/**
 * Each passes the words up to the cursor, the last one perhaps empty, to the hidden `__complete`, which prints one
 * proposal a line. Where it has none, the shell completes files.
 */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_partner_exchange() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(partner-exchange __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _partner_exchange partner-exchange
`,
  zsh: `#compdef partner-exchange
_partner_exchange() {
  local -a proposals
  proposals=("\${(@f)$(partner-exchange __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$proposals" ]]; then compadd -- $proposals; else _files; fi
}
compdef _partner_exchange partner-exchange
`,
  fish: `complete -c partner-exchange -a '(partner-exchange __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName partner-exchange -ScriptBlock {
  param($word, $ast)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  partner-exchange __complete @words 2>$null | Where-Object { $_ -like "$word*" }
}
`,
};
