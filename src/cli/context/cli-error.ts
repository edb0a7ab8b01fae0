import { type ExitCode, exitCodes } from './exit-code.ts';

/** Ends a command with one line for the user, which says what to do next. It must hold no secret. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, options: ErrorOptions & { exitCode?: ExitCode } = {}) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? exitCodes.usage;
  }
}
