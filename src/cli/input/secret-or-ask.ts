import { checkSecretText } from '../../credentials/check-key.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';

/**
 * The secret of a variable, or what the user types at a terminal, unseen. Never an argument: other users see those, and
 * the shell's history keeps them.
 */
export async function secretOrAsk(
  context: CliContext,
  { variable, given, question }: { variable: string; given: string | undefined; question: string },
): Promise<string> {
  if (given !== undefined) return given;
  if (!context.stdin.isTTY || !context.stderr.isTTY) {
    throw new CliError(`${variable} is not set: set it, or run this in a terminal to be asked for it.`);
  }
  const answer = await context.askHidden(question);
  if (answer === undefined) {
    throw new CliError('Stopped before anything was done.', { exitCode: exitCodes.stopped });
  }
  context.secrets.add(answer);
  return checkSecretText(answer, variable);
}
