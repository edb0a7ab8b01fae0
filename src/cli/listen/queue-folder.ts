import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CliContext } from '../context/cli-context.ts';

/** Where events wait for a target if no folder was named: one folder for each target, the same in every run. */
export function queueFolder({ env, platform }: CliContext, target: URL): string {
  const state =
    platform === 'win32'
      ? (env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  const id = createHash('sha256').update(target.href).digest('hex').slice(0, 16);
  return join(state, 'partner-exchange', 'listen', id);
}
