import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bareEnvironment } from '../../support/bare-environment.ts';
import { onTerminal } from './interactive-shell.ts';
import type { Ended } from './run-in-process.ts';

export const main = join(import.meta.dirname, '../../../src/devtools/cli/main.ts');

const { TEST_BINARY: binary } = process.env;

/** The words that start the command line: the sources, or the one file that `npm run binary` has made. */
export const commandLine = binary === undefined ? [process.execPath, main] : [binary];

/** The same, for a shell. */
export const shellCommandLine = commandLine.map((word) => `'${word}'`).join(' ');

export interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the whole output once it matches. */
  printed(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string>;
}

interface ChildOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Runs it on a terminal, waits there for each text, and types what follows. */
  readonly answers?: readonly (readonly [shown: string, typed: string])[];
}

/** Starts the command line in a process of its own, which is gone when the test is over. */
export function startChild(args: readonly string[], { env = {}, cwd, answers }: ChildOptions = {}): Child {
  const terminal = answers === undefined ? [] : [...onTerminal, JSON.stringify(answers)];
  const [program = '', ...words] = [...terminal, ...commandLine, ...args];
  const child = spawn(program, words, {
    cwd,
    env: { ...bareEnvironment, TERM: 'xterm-256color', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  let waiting: (() => boolean)[] = [];
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      waiting = waiting.filter((isDone) => !isDone());
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? (signal === null ? -1 : -2), ...output }));
  });
  return {
    process: child,
    ended,
    printed: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const isDone = () => {
          if (!pattern.test(output[stream])) return false;
          resolve(output[stream]);
          return true;
        };
        if (!isDone()) waiting.push(isDone);
        void ended.then(({ code, stdout, stderr }) =>
          reject(new Error(`It ended with ${code}: ${stdout}${stderr}`)),
        );
      }),
  };
}
