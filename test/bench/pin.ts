import { spawnSync } from 'node:child_process';

/** Keeps a process, with all of its threads, to these cores; says whether that is so. Its children inherit it. */
export function pin(pid: number | undefined, ...cores: readonly number[]): boolean {
  if (pid === undefined) return false;
  return spawnSync('taskset', ['-a', '-c', '-p', cores.join(','), String(pid)]).status === 0;
}
