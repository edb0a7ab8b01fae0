import type { Readable } from 'node:stream';
import type { CommandContext } from '@stricli/core';
import type { Sleep } from '../../../internal/backoff.ts';
import type { RandomBytes } from '../../../internal/options.ts';

/** The outside world of a command. `main` takes it from the process; tests make their own. */
export interface CliContext {
  readonly stdin: InputStream;
  /** Takes results. */
  readonly stdout: GuardedStream;
  /** Takes status messages and errors. */
  readonly stderr: GuardedStream;
  readonly env: Variables;
  /** The base of relative paths. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly sleep: Sleep;
  /** Aborted when the user stops the command (Ctrl-C). */
  readonly signal: AbortSignal;
  /** Hides the keys of this run in everything that it prints. */
  readonly secrets: SecretGuard;
  /** Asks for a secret on the terminal, and hides what is typed. `undefined` if the user cancelled. */
  readonly askHidden: (question: string) => Promise<string | undefined>;
  readonly confirm: (question: string) => Promise<boolean>;
}

/** The outside world before a run has read any key. */
export interface World extends Omit<CliContext, 'secrets' | 'stdout' | 'stderr'> {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** What stricli hands to a command: `process` takes the exit code. */
export interface RunContext extends CliContext, CommandContext {
  readonly process: CommandContext['process'] & { exitCode?: number | string | null | undefined };
}

/** The codes that the process ends with; docs/cli.md is checked against them. */
export const exitCodes = {
  ok: 0,
  /** It ran, and found something wrong, or the service refused it. */
  findings: 1,
  /** It did not run: arguments, configuration or files are not right. */
  usage: 2,
  /** A request may or may not have been acted on: look before you repeat it. */
  unknownOutcome: 3,
  stopped: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

interface Ending {
  /** The user stopped it, or the reader of its output ended. */
  readonly isStopped?: boolean;
  readonly isOutputLost?: boolean;
}

/** An unknown outcome comes first: the request must not be repeated blindly. */
export function finalExitCode<Code extends number>(
  code: Code,
  { isStopped = false, isOutputLost = false }: Ending,
): Code | ExitCode {
  if (code === exitCodes.unknownOutcome) return code;
  if (isOutputLost) return exitCodes.usage;
  return isStopped ? exitCodes.stopped : code;
}

/** Ends a command with one line for the user, which says what to do next. It must hold no secret. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, options: ErrorOptions & { exitCode?: ExitCode } = {}) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? exitCodes.usage;
  }
}

/** A failure, as the user is told of it. */
export interface Failure {
  /** The failure in one line, with the next step. */
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly outcome?: string | undefined;
  readonly assumptions?: readonly string[] | undefined;
}

/** Resolves when the signal is aborted, for commands that run until they are stopped. */
export function onceAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The keys that a run has read. Everything it prints goes through this, so that none is printed by mistake. */
export interface SecretGuard {
  /** Hides a value from now on. */
  add(secret: string | undefined): void;
  /** Shows a value from now on: the keys of a sandbox of ours, which may also be in the environment. */
  release(value: string): void;
  redact(text: string): string;
  /** Wraps a stream so that it shows no key, and nothing that misleads a terminal. */
  guard(stream: OutputStream): GuardedStream;
}

export type InputStream = Readable & { readonly isTTY?: boolean | undefined };

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** A stream that shows no secret: see {@link SecretGuard.guard}. */
export interface GuardedStream extends OutputStream {
  /** Writes a text whose every byte counts, such as a signed one. A terminal never gets it. */
  writeExact(text: string): unknown;
}

export type Variables = Readonly<Record<string, string | undefined>>;
