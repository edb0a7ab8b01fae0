import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isConfigurationError, isStoreError, whatFailed, wholeMessage } from '../../../../errors/errors.ts';
import type { MakeFileError } from '../../../../store/sqlite/private-file.ts';
import { shownPath } from '../../inputs/input.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';

/**
 * Claims the file with the data of a sandbox: two sandboxes would each overwrite what the other wrote.
 *
 * @throws {CliError} if another sandbox uses the file
 */
export async function claimSandboxData({ cwd }: CliContext, given: string) {
  const path = resolve(cwd, given);
  const lock = await lockFile(existsSync(path) ? realpathSync(path) : path, given);
  return {
    path,
    /** Names the file in the error of a sandbox that cannot use it. */
    explain(error: unknown): unknown {
      if (isConfigurationError(error)) return new CliError(`${shownPath(given)}: ${wholeMessage(error)}`);
      if (!isStoreError(error)) return error;
      const reason = error.cause instanceof Error ? error.cause.message : whatFailed(error);
      return new CliError(
        `${shownPath(given)} cannot hold the data of a sandbox: ${reason.replace(/\.$/, '')}. Name another file with --data, or a new one.`,
        { cause: error },
      );
    },
    release: () => lock.close(),
  };
}

/** SQLite's own lock on an empty file: the system releases it however the process ends. */
async function lockFile(path: string, given: string): Promise<{ close(): void }> {
  // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
  const { DatabaseSync } = await import('node:sqlite');
  const { openPrivateFile } = await import('../../../../store/sqlite/private-file.ts');
  const fail: MakeFileError = (what, { remedy = '' } = {}) =>
    new CliError(`${shownPath(given)}: ${what} ${remedy}`.trimEnd());
  const lock = new DatabaseSync(openPrivateFile(`${path}.lock`, fail).path);
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return lock;
  } catch (error) {
    lock.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
    if (!isBusy) throw error;
    throw new CliError(`Another sandbox uses ${shownPath(given)}: stop that one, or name another file.`);
  }
}

const sqliteBusy = 5;
