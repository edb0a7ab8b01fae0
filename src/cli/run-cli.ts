import { type ApplicationContext, run } from '@stricli/core';
import { loadApplication } from './application.ts';
import type { CliContext, OuterContext } from './context/cli-context.ts';
import { type ExitCode, exitCodes } from './context/exit-code.ts';
import { hasInheritedOption } from './context/inherited-option.ts';
import { secretGuard } from './context/secret-guard.ts';
import { hasColours } from './output/paint.ts';
import { reportFailure } from './output/report-failure.ts';
import type { RouteContext } from './routes/define-command.ts';

/** Runs one command line. Never rejects. */
export async function runCli(inputs: readonly string[], outer: OuterContext): Promise<ExitCode> {
  if (inputs[0] === '__complete') return complete(inputs.slice(1), outer);
  const secrets = secretGuard(outer.env);
  let ended: ExitCode | undefined;
  const finish: RouteContext['finish'] = async (flags, command) => {
    const { stdout, stderr } = outer;
    const guarded = { stdout: secrets.guard(stdout), stderr: secrets.guard(stderr) };
    const context: CliContext = { ...outer, ...guarded, secrets };
    const { runCommand } = await import('./run-command.ts');
    ended = await runCommand({ context, inputs, flags, command });
  };
  const refuse = (message: string) => {
    const context = { env: outer.env, stderr: secrets.guard(outer.stderr) };
    reportFailure(context, { message, exitCode: exitCodes.usage, code: 'cli' }, inputs);
  };
  if (hasInheritedOption(inputs)) {
    refuse('There is no such option. Add --help to see what there is.');
    return exitCodes.usage;
  }
  // Below 4 stricli prints no colours. It colours whole errors, so it never gets them for stderr.
  const colourDepth = hasColours(outer.env, outer.stdout) ? 8 : 1;
  const process: ApplicationContext['process'] = {
    stdout: {
      write: (text) => void outer.stdout.write(secrets.redact(text)),
      getColorDepth: () => colourDepth,
    },
    // Only errors: the arguments do not fit.
    stderr: {
      write: (text) => refuse(text.trimEnd()),
      getColorDepth: () => 1,
    },
    exitCode: null,
  };
  await run(await loadApplication(inputs.slice(0, 1)), inputs, { process, finish });
  // stricli ends with a negative number where the arguments do not fit.
  return ended ?? (process.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
}

/** What the scripts of `completion` ask for. */
async function complete(words: readonly string[], { stdout }: OuterContext): Promise<ExitCode> {
  const { proposeWords } = await import('./completion/propose-words.ts');
  for (const word of await proposeWords(words)) stdout.write(`${word}\n`);
  return exitCodes.ok;
}
