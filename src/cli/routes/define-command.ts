import { buildCommand, type Command, type CommandBuilderArguments, type CommandContext } from '@stricli/core';
import type { CliContext } from '../context/cli-context.ts';
import type { ExitCode } from '../context/exit-code.ts';
import type { CommonFlags } from './common-flags.ts';

/** What a command does. Resolves with an exit code; `undefined` means that all is well. */
export type RunCommand<Flags extends CommonFlags, Args extends readonly unknown[] = []> = (
  context: CliContext,
  flags: Flags,
  ...args: Args
) => Promise<ExitCode | undefined>;

/** The context that stricli passes to commands. */
export interface RouteContext extends CommandContext {
  /** Runs a command, and reports how it ended. */
  readonly finish: (
    flags: CommonFlags,
    run: (context: CliContext) => Promise<ExitCode | undefined>,
  ) => Promise<void>;
}

/** The second part says nothing that is not so of every interface: stricli's types ask for it. */
type FlagsOf<Flags> = CommonFlags & Readonly<Partial<Record<keyof Flags, unknown>>>;

export interface CommandDefinition<Flags extends FlagsOf<Flags>, Args extends readonly unknown[]> {
  /** One line, for the list of commands. */
  readonly brief: string;
  /** What the help says beyond that. */
  readonly about?: string;
  /** Whole command lines, shown in the help; each is tried in a test. */
  readonly examples: readonly [string, ...string[]];
  readonly parameters: CommandBuilderArguments<Flags, Args, RouteContext>['parameters'];
  /** Loads what the command does, which `--help` never needs. */
  readonly load: () => Promise<RunCommand<Flags, Args>>;
}

/** A command for the route map. */
export function defineCommand<Flags extends FlagsOf<Flags>, Args extends readonly unknown[] = []>({
  brief,
  about,
  examples,
  parameters,
  load,
}: CommandDefinition<Flags, Args>): Command<RouteContext> {
  const lines = examples.map((example) => `  $ ${example}`);
  return buildCommand<Flags, Args, RouteContext>({
    loader: async () => {
      return async function (flags, ...args) {
        // Loaded in here, so that a failure to load is reported like any other.
        await this.finish(flags, async (context) => (await load())(context, flags, ...args));
      };
    },
    parameters,
    docs: { brief, fullDescription: [about ?? brief, '', 'EXAMPLES', ...lines].join('\n') },
  });
}
