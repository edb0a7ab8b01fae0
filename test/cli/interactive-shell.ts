import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.ts';

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
  /** Waits for something that is printed from now on. */
  printed(pattern: RegExp): Promise<void>;
  /**
   * Runs a command. Resolves with everything that the terminal has shown since, as lines, once the shell is ready
   * again and the output is there; after half a minute with what there is then.
   */
  run(command: string, isThere?: (printed: string) => boolean): Promise<string>;
}

const ready = /ready \d+> /g;

/** A bash as a person has it: on a terminal, with job control. */
export async function startInteractiveShell(cwd: string): Promise<InteractiveShell> {
  const [program = '', ...words] = [...onTerminal, '[]', 'bash', '--norc', '--noprofile', '-i'];
  const shell = spawn(program, words, { cwd, env: { ...bareEnvironment, TERM: 'xterm', NO_COLOR: '1' } });
  // The terminal hangs up, and with it goes everything on it.
  onTestFinished(() => void shell.kill('SIGKILL'));
  let shown = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const type = (keys: string) => void shell.stdin.write(keys);
  const until = (isDone: () => boolean) => expect.poll(isDone, { timeout: 30_000, interval: 20 }).toBe(true);

  async function run(command: string, isThere: (printed: string) => boolean = () => true): Promise<string> {
    const from = shown.length;
    const printed = () => asLines(shown.slice(from).replace(/^[^\n]*\n/, ''));
    type(`${command}\n`);
    const isReady = () => (shown.slice(from).match(ready)?.length ?? 0) > 0 && shown.indexOf('\n', from) > 0;
    await until(() => isReady() && isThere(printed())).catch(() => {});
    expect(isReady(), `The shell is stuck in: ${command}\n${printed()}`).toBe(true);
    return printed();
  }

  // Lines that are too long to wrap; the number makes a prompt differ from the line that sets it.
  type("stty cols 9999; PS1='ready \\#> '\n");
  await until(() => /ready \d+> /.test(shown));
  return {
    type,
    run,
    async printed(pattern) {
      const from = shown.length;
      await until(() => pattern.test(shown.slice(from)));
    },
  };
}

/** Without prompts, and what moves the cursor. */
function asLines(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
      .replaceAll(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
      .replaceAll(/\r+\n/g, '\n')
      .replaceAll(/\r/g, '')
      .replaceAll(ready, '')
  );
}
