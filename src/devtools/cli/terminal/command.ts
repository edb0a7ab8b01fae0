import { buildCommand, type Command, type CommandBuilderArguments } from '@stricli/core';
import { type CliContext, type ExitCode, type Failure, finalExitCode, type RunContext } from './context.ts';
import type { ArgsOf, ArgTable, FlagsOf, FlagTable } from './flags.ts';
import { paintFor } from './terminal-text.ts';

interface CommandDefinition<Flags extends FlagTable, Args extends ArgTable> {
  readonly brief: string;
  readonly about: string;
  /** Whole command lines, shown in the help; a test parses each. */
  readonly examples: readonly [string, ...string[]];
  /** The shape of what `--format json` prints. Members may be added. */
  readonly json?: string;
  readonly flags: Flags;
  readonly args?: Args;
  run(context: CliContext, flags: FlagsOf<Flags>, ...args: ArgsOf<Args>): Promise<ExitCode>;
}

/** A command, as its file exports it: what the help says, what it takes, and what it does. */
export function defineCommand<const Flags extends FlagTable, const Args extends ArgTable = readonly []>({
  brief,
  about,
  examples,
  json,
  flags,
  args,
  run,
}: CommandDefinition<Flags, Args>): Command<RunContext> {
  const positional = args === undefined || 'kind' in args ? args : { kind: 'tuple', parameters: args };
  const lines = examples.map((example) => `  $ ${example}`);
  const shape = json === undefined ? [] : ['', 'JSON', `  ${json}`];
  // stricli looks names such as `toString` up in the table, so it has no prototype.
  const table = Object.assign(Object.create(null), flags);
  return buildCommand<FlagsOf<Flags>, ArgsOf<Args>, RunContext>({
    func: commandFunction(run),
    // Sound: the helpers in flags.ts make exactly what stricli takes, and FlagsOf and ArgsOf read its values off them.
    parameters: { flags: table, ...(positional && { positional }) } as unknown as CommandBuilderArguments<
      FlagsOf<Flags>,
      ArgsOf<Args>,
      RunContext
    >['parameters'],
    docs: { brief, fullDescription: [about, '', 'EXAMPLES', ...lines, ...shape].join('\n') },
  });
}

/** The function that stricli calls for a command. It sets the exit code, and never rejects. */
function commandFunction<Flags extends object, Args extends readonly unknown[]>(
  run: (context: CliContext, flags: Flags, ...args: Args) => Promise<ExitCode>,
) {
  return async function (this: RunContext, flags: Flags, ...args: Args): Promise<void> {
    const { signal } = this;
    let code: ExitCode;
    try {
      code = await run(this, flags, ...args);
    } catch (error) {
      const { describeFailure } = await import('./failure-line.ts');
      const failure = describeFailure(error);
      code = failure.exitCode;
      // A stopped command needs no explanation, unless a request was under way.
      if (!signal.aborted || failure.outcome !== undefined) {
        reportFailure(this, failure, { isJson: 'format' in flags && flags.format === 'json' });
      }
      if ('debug' in flags && flags.debug === true) {
        this.stderr.write(`${(await import('node:util')).inspect(error)}\n`);
      }
    }
    this.process.exitCode = finalExitCode(code, { isStopped: signal.aborted });
  };
}

/** Prints a failure on stderr: a line of text, or of JSON where results are JSON. */
export function reportFailure(
  context: Pick<CliContext, 'stderr' | 'env'>,
  { message, ...facts }: Failure,
  { isJson }: { isJson: boolean },
): void {
  if (isJson) {
    context.stderr.write(`${JSON.stringify({ error: { message, ...facts } })}\n`);
    return;
  }
  const ids = facts.assumptions?.length ? ` (assumptions: ${facts.assumptions.join(', ')})` : '';
  context.stderr.write(`${paintFor(context, context.stderr)('red', 'error:')} ${message}${ids}\n`);
}
