import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';

/** Flags of what cannot be undone. */
export interface ConfirmFlags {
  readonly yes: boolean;
}

/** Refuses at once what nobody could be asked about later: without a terminal, or when stdin is read for data. */
export function checkCanAsk(
  { stdin, stderr }: CliContext,
  { yes, isStdinTaken = false }: ConfirmFlags & { readonly isStdinTaken?: boolean },
): void {
  if (yes || (stdin.isTTY && stderr.isTTY && !isStdinTaken)) return;
  throw new CliError(
    'Nothing was done, since nobody can be asked here: add --yes to go on without a question.',
  );
}

/** Asks before something is done that cannot be undone. Throws unless the answer is yes. */
export async function askToGoOn(context: CliContext, flags: ConfirmFlags, question: string): Promise<void> {
  checkCanAsk(context, flags);
  if (flags.yes || (await context.confirm(question))) return;
  throw new CliError('Stopped before anything was done.', { exitCode: exitCodes.stopped });
}
