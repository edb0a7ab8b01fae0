import { spawnSync } from 'node:child_process';

export interface RunOptions {
  readonly cwd: string;
  /** Milliseconds. @default 120_000 */
  readonly timeout?: number;
  /** @default that of this process */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program without standard input and returns what it printed. Throws, with its output, when it fails. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, timeout = 120_000, env = process.env }: RunOptions,
): string {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    timeout,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return stdout;
  // Not started: then there is no output either, whatever the types say.
  if (status === null && signal === null) throw new Error(error?.message ?? 'It did not start.');
  const why = error?.message ?? (signal ? `ended by ${signal}` : `exit code ${status}`);
  throw new Error(`${why}\n${stdout}${stderr}`.trimEnd());
}
