import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CliContext } from '../terminal/context.ts';

/** The command line's state folder, in the system's usual place. */
export function stateFolder({ env, platform }: CliContext, ...names: readonly string[]): string {
  const state =
    platform === 'win32'
      ? (env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  return join(state, 'partner-exchange', ...names);
}
