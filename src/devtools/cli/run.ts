import {
  type Application,
  type ApplicationContext,
  buildApplication,
  help,
  run,
  version,
} from '@stricli/core';
import { userAgent } from '../../internal/user-agent.ts';
import { commandNames, loadRoutes, withDefaultCommand } from './commands/command-list.ts';
import type { CommandOutline } from './commands/command-outlines.ts';
import { reportFailure } from './terminal/command.ts';
import { exitCodes, type RunContext, type SecretGuard, type World } from './terminal/context.ts';
import { secretGuard } from './terminal/secret-guard.ts';
import { hasColours, visibleText } from './terminal/terminal-text.ts';
import { textFor } from './terminal/usage-errors.ts';

/** Runs one command line. Never rejects. */
export async function runCli(inputs: readonly string[], world: World): Promise<number> {
  const secrets = secretGuard(world.env, inputs);
  const isJson = wantsJson(inputs);
  const stderr = () => ({ env: world.env, stderr: secrets.guard(world.stderr) });
  const refuse = (message: string) => {
    reportFailure(stderr(), { message, exitCode: exitCodes.usage, code: 'cli' }, { isJson });
  };
  // Below 4 stricli prints no colours. On stderr it would colour whole errors.
  const colourDepth = hasColours(world.env, world.stdout) ? 8 : 1;
  const process: ApplicationContext['process'] = {
    stdout: {
      // Help and the version: commands write to their own context.
      write: (text) => void secrets.guard(world.stdout).write(text),
      getColorDepth: () => colourDepth,
    },
    // stricli prints only errors here: the arguments do not fit.
    stderr: {
      write: (text) => refuse(text.trimEnd()),
      getColorDepth: () => 1,
    },
    exitCode: null,
  };
  try {
    const application = await loadApplication(inputs.slice(0, 1));
    await run(application, withDefaultCommand(inputs), {
      process,
      forCommand: () => runContext(world, { secrets, process }),
    });
  } catch (error) {
    // The file of a command could not be loaded.
    const { describeFailure } = await import('./terminal/failure-line.ts');
    const failure = describeFailure(error);
    reportFailure(stderr(), failure, { isJson });
    return failure.exitCode;
  }
  // stricli ends with a negative number where the arguments do not fit.
  return typeof process.exitCode === 'number' && process.exitCode >= 0 ? process.exitCode : exitCodes.usage;
}

/** The command line as stricli runs it, with the commands that are named. */
export async function loadApplication(names: readonly string[]): Promise<Application<RunContext>> {
  const routes = await loadRoutes(names);
  const group = routes.getAllEntries().find(({ name }) => name.original === names[0]);
  const commands =
    group !== undefined && 'getAllEntries' in group.target
      ? group.target.getAllEntries().map(({ name }) => name.original)
      : undefined;
  return buildApplication(
    routes,
    {
      name: 'partner-exchange',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      localization: { text: textFor({ group: commands && names[0], commands: commands ?? [] }) },
    },
    {
      help: help({
        brief: 'Print help and exit',
        defaultForRouteMap: true,
        formatting,
      }),
      version: version({
        brief: 'Print the version and exit',
        info: { currentVersion: userAgent.slice(userAgent.indexOf('/') + 1) },
      }),
    },
  );
}

const formatting = {
  caseStyle: 'convert-camel-to-kebab',
  useAliasInUsageLine: false,
  onlyRequiredInUsageLine: true,
} as const;

/** Outlines the commands for the build. */
export async function outlineCommands(): Promise<Readonly<Record<string, CommandOutline>>> {
  const routes = await loadRoutes(commandNames);
  const config = { ...formatting, disableAnsiColor: true };
  const outlines = routes.getAllEntries().map(({ name, target }) => {
    // The first word is empty, so the line is what follows the name.
    const usage = target.formatUsageLine({ prefix: [''], config, ansiColor: false });
    return [name.original, { brief: target.brief, usage }];
  });
  return Object.fromEntries(outlines);
}

/** The context of a command. Its streams hide the keys. */
function runContext(
  world: World,
  { secrets, process }: { secrets: SecretGuard; process: RunContext['process'] },
): RunContext {
  const { stdout, stderr } = world;
  return {
    ...world,
    stdout: secrets.guard(stdout),
    stderr: secrets.guard(stderr),
    confirm: (question) => world.confirm(visibleText(question)),
    secrets,
    process,
  };
}

/** Reads the words themselves, since an error is printed before they are parsed. */
function wantsJson(inputs: readonly string[]): boolean {
  return inputs.some(
    (input, index) => input === '--format=json' || (input === '--format' && inputs[index + 1] === 'json'),
  );
}
