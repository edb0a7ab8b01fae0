import type { CliContext } from './context/cli-context.ts';
import { type ExitCode, exitCodes } from './context/exit-code.ts';
import { reportFailure } from './output/report-failure.ts';
import type { CommonFlags } from './routes/common-flags.ts';

export interface CommandRun {
  readonly context: CliContext;
  /** What the user typed. */
  readonly inputs: readonly string[];
  readonly flags: CommonFlags;
  readonly command: (context: CliContext) => Promise<ExitCode | undefined>;
}

/** Runs a command, and tells of a failure. Never rejects. */
export async function runCommand({ context, inputs, flags, command }: CommandRun): Promise<ExitCode> {
  let ended: ExitCode;
  try {
    ended = (await command(context)) ?? exitCodes.ok;
  } catch (error) {
    const { describeFailure } = await import('./output/describe-failure.ts');
    const failure = describeFailure(error);
    ended = failure.exitCode;
    // What was stopped needs no explanation, unless a request was under way.
    if (!context.signal.aborted || failure.outcome !== undefined) reportFailure(context, failure, inputs);
    if (flags.debug) context.stderr.write(`${(await import('node:util')).inspect(error)}\n`);
  }
  // What may have been done outweighs that it was stopped: it must not be repeated blindly.
  return context.signal.aborted && ended !== exitCodes.unknownOutcome ? exitCodes.stopped : ended;
}
