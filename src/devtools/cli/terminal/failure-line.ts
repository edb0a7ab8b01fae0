import { existsSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import {
  codeOf,
  isConfigurationError,
  isKeyError,
  isOrderError,
  isPartnerExchangeError,
  isRequestError,
  isValidationError,
  type SdkError,
  wholeMessage,
} from '../../../errors/errors.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { redactCredentials, redactQuote } from '../../../internal/redact-credentials.ts';
import { CliError, type ExitCode, exitCodes, type Failure } from './context.ts';

export function describeFailure(error: unknown): Failure {
  if (error instanceof CliError) {
    return { message: printableText(error.message), exitCode: error.exitCode, code: 'cli' };
  }
  if (isRequestError(error)) {
    const { code, outcome, assumptions } = error;
    const isUnknown = outcome === 'unknown';
    const exitCode = isUnknown ? exitCodes.unknownOutcome : exitCodes.findings;
    return { message: printableText(messageWithCommand(error)), exitCode, code, outcome, assumptions };
  }
  if (isPartnerExchangeError(error)) {
    return {
      message: printableText(messageWithCommand(error)),
      exitCode: exitCodeOf(error),
      code: error.code,
      assumptions: error.assumptions,
    };
  }
  return describeForeign(error);
}

/** The command for each code whose message names a function of the library that a command runs. */
export const errorCommands: Readonly<Partial<Record<SdkError['code'], string>>> = {
  invalid_scheme: 'learn',
  signature_malformed: 'learn',
  signature_mismatch: 'verify',
  keys_unavailable: 'keys receive',
  keys_known: 'keys receive',
  keys_not_received: 'keys receive',
  keys_unconfirmed: 'keys receive',
  rotation_pending: 'keys receive',
  rotation_unknown: 'keys receive',
  key_storage_invalid: 'keys receive',
};

/** The whole message of an error, and the command that helps. */
function messageWithCommand(error: SdkError): string {
  const message = wholeMessage(error);
  const command = errorCommands[error.code];
  return command === undefined ? message : `${message} Command: partner-exchange ${command}`;
}

function exitCodeOf(error: SdkError): ExitCode {
  if (isConfigurationError(error) || isValidationError(error)) return exitCodes.usage;
  if (isKeyError(error) && badKeyStorage.has(error.code)) return exitCodes.usage;
  // The service may have acted on an earlier request.
  const isUnknown =
    (isOrderError(error) && error.code === 'outcome_unknown') ||
    (isKeyError(error) && error.code === 'rotation_unknown');
  return isUnknown ? exitCodes.unknownOutcome : exitCodes.findings;
}

/** The store holds no keys yet, or something else in their place, and nothing was done with it. */
const badKeyStorage: ReadonlySet<string> = new Set(['key_storage_invalid', 'keys_unavailable']);

const systemErrors: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => {
    const folder = dirname(path);
    // The path may be that of a new file.
    if (path.includes(sep) && !existsSync(folder))
      return `There is no folder ${folder}: make it, or check the path.`;
    return `There is no ${path}: check the path.`;
  },
  EACCES: (path) => `No permission for ${path}: check who owns it, and its mode.`,
  EPERM: (path) => `No permission for ${path}: check who owns it, and its mode.`,
  EISDIR: (path) => `${path} is a folder: name a file in it.`,
  ENOTDIR: (path) => `${path} leads through a file: check the path.`,
  EEXIST: (path) => `${path} is there already: name another one, or move it away.`,
  ENOSPC: () => 'The disk is full: free some space.',
  EROFS: (path) => `${path} cannot be written, its file system is read-only: name another one.`,
  EADDRINUSE: () =>
    'The port is in use, perhaps by a sandbox that is still running: stop that one, or choose another with --port.',
  // SQLite is missing. Node has it without a flag since 22.13.
  ERR_UNKNOWN_BUILTIN_MODULE: () =>
    'This Node has no SQLite: use 22.13 or later, set NODE_OPTIONS=--experimental-sqlite, or name a store at a redis: or postgres: address.',
  EADDRNOTAVAIL: () => 'This machine does not have that address: choose another with --host.',
};

function describeForeign(error: unknown): Failure {
  const code = codeOf(error);
  const describe = Object.hasOwn(systemErrors, code) ? systemErrors[code] : undefined;
  if (describe !== undefined) {
    return { message: printableText(describe(pathOf(error))), exitCode: exitCodes.usage, code };
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const quote = redactQuote(printableText(text).slice(0, 500));
  return {
    message: `Unexpected: ${quote}. Run it again with --debug, and report what it prints.`,
    exitCode: exitCodes.findings,
    code: code || 'unexpected',
  };
}

/** The path in an error of the system, unless a key was typed in its place. */
function pathOf(error: unknown): string {
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : '';
  return path === '' || redactCredentials(path) !== path ? 'such file' : path;
}
