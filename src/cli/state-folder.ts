import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CliContext } from './context.ts';

/** A folder for the command line's own state, where the system keeps such. */
export function stateFolder({ env, platform }: CliContext, ...names: readonly string[]): string {
  const state =
    platform === 'win32'
      ? (env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  return join(state, 'partner-exchange', ...names);
}
