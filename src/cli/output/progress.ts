import type { CliContext } from '../context/cli-context.ts';

/** Tells how far a long command is: on a terminal in one line that changes, otherwise in a line every ten seconds. */
export interface Progress {
  readonly isTerminal: boolean;
  update(text: string): void;
  /** Removes the line. */
  stop(): void;
}

const plainIntervalMs = 10_000;

export function startProgress({ stderr, now, env }: CliContext): Progress {
  const isTerminal = stderr.isTTY === true && env.TERM !== 'dumb';
  let lastAt = now();
  return {
    isTerminal,
    update(text) {
      if (isTerminal) {
        // Back to the start, and clear: a line that wrapped could not be cleared.
        stderr.write(`\r\u001b[2K${text.slice(0, Math.max(0, (stderr.columns || 80) - 1))}`);
        return;
      }
      if (now() - lastAt < plainIntervalMs) return;
      lastAt = now();
      stderr.write(`${text}\n`);
    },
    stop() {
      if (isTerminal) stderr.write('\r\u001b[2K');
    },
  };
}
