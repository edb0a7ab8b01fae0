import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bareEnvironment } from '../../support/bare-environment.ts';

/** What runs a command on a terminal: its words come before those of the command. */
export const onTerminal = ['python3', join(import.meta.dirname, 'on-terminal.py')];

/** Whether this machine can make terminals for tests. */
export const hasTerminals =
  process.platform !== 'win32' &&
  spawnSync('python3', ['-c', 'import pty']).status === 0 &&
  spawnSync('bash', ['--version']).status === 0;

export interface InteractiveShell {
  /** Types without waiting for anything. */
  type(keys: string): void;
  /** Waits for text that is shown from now on, or since an earlier mark. Rejects after the time limit. */
  printed(isThere: (shown: string) => boolean, options?: { from?: number }): Promise<void>;
  /**
   * Runs a command. Resolves with everything that the terminal has shown since, as lines, once the shell is ready
   * again and the output is there; after the time limit with what there is then.
   */
  run(command: string, isThere?: (printed: string) => boolean): Promise<string>;
  /** Where the output ends now. */
  mark(): number;
  /** What the terminal has shown since a mark, byte for byte. */
  shownSince(mark: number): string;
  /** Hangs up: everything that runs on the terminal ends. */
  close(): void;
}

export interface ShellOptions {
  readonly cwd: string;
  /** Beside those of {@link bareEnvironment}. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Of the terminal. @default 9_999, so that no line wraps */
  readonly columns?: number;
  /** For each wait, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number;
}

const ready = /ready \d+> /g;

/** Starts a bash as a person has it: on a terminal, with job control. */
export async function startInteractiveShell(options: ShellOptions): Promise<InteractiveShell> {
  const { cwd, env, columns = 9_999, timeoutMs = 30_000 } = options;
  const [program = '', ...words] = [...onTerminal, '[]', 'bash', '--norc', '--noprofile', '-i'];
  const shell = spawn(program, words, {
    cwd,
    env: {
      ...bareEnvironment,
      TERM: 'xterm',
      NO_COLOR: '1',
      TERMINAL_SIZE: JSON.stringify([24, columns]),
      ...env,
    },
  });
  let shown = '';
  let onShown = () => {};
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    onShown();
  });
  const type = (keys: string) => void shell.stdin.write(keys);

  /** @returns whether it came true in time */
  function until(isDone: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (result: boolean) => {
        clearTimeout(timer);
        onShown = () => {};
        resolve(result);
      };
      // real time: the patience of the caller.
      const timer = setTimeout(end, timeoutMs, false);
      onShown = () => {
        if (isDone()) end(true);
      };
      onShown();
    });
  }

  async function run(command: string, isThere: (printed: string) => boolean = () => true): Promise<string> {
    const from = shown.length;
    const printed = () => asLines(shown.slice(from).replace(/^[^\n]*\n/, ''));
    type(`${command}\n`);
    const isReady = () => (shown.slice(from).match(ready)?.length ?? 0) > 0 && shown.indexOf('\n', from) > 0;
    await until(() => isReady() && isThere(printed()));
    if (!isReady()) throw new Error(`The shell is stuck in: ${command}\n${printed()}`);
    return printed();
  }

  // The number makes a prompt differ from the line that sets it.
  type("PS1='ready \\#> '\n");
  if (!(await until(() => /ready \d+> /.test(shown)))) throw new Error(`The shell does not start:\n${shown}`);
  return {
    type,
    run,
    async printed(isThere, { from = shown.length } = {}) {
      if (await until(() => isThere(shown.slice(from)))) return;
      throw new Error(`The terminal shows only:\n${asLines(shown.slice(from))}`);
    },
    mark: () => shown.length,
    shownSince: (mark) => shown.slice(mark),
    close: () => void shell.kill('SIGKILL'),
  };
}

/** Without prompts, and what moves the cursor. */
export function asLines(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
      .replaceAll(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
      .replaceAll(/\r+\n/g, '\n')
      .replaceAll(/\r/g, '')
      .replaceAll(ready, '')
  );
}
