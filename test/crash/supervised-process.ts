import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that a test may kill at any moment, and that is started again whenever it ends. */
export interface SupervisedProcess {
  /** Kills it with SIGKILL; another one takes its place. */
  kill(): void;
  /** Kills it for good. Resolves when it is gone. */
  end(): Promise<void>;
}

/**
 * Runs a program as a supervisor does. With `CRASH_DEBUG` in the environment its stderr is shown.
 * @param hooks.onExit called whenever a process has ended, before the next one starts
 */
export function supervise<Message>(
  file: string,
  args: readonly string[],
  hooks: { readonly onMessage: (message: Message) => void; readonly onExit?: () => void },
): SupervisedProcess {
  let isOver = false;
  let child = start();

  function start(): ChildProcess {
    const started = fork(file, args, {
      stdio: ['ignore', 'ignore', process.env.CRASH_DEBUG ? 'inherit' : 'ignore', 'ipc'],
    });
    started.on('error', () => {});
    // Sound: the caller names what its own program sends.
    started.on('message', (message) => hooks.onMessage(message as Message));
    started.on('exit', (_, signal) => {
      hooks.onExit?.();
      // A program that finds its engine away ends by itself, and is started again after a pause.
      // real time: a supervisor waits before it starts a program again.
      setTimeout(
        () => {
          if (!isOver) child = start();
        },
        signal === 'SIGKILL' ? 0 : 300,
      );
    });
    return started;
  }

  return {
    kill: () => void child.kill('SIGKILL'),
    async end() {
      isOver = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
