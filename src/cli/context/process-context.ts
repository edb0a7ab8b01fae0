import { sleep } from '../../runtime/sleep.ts';
import { openBrowser } from '../output/open-browser.ts';
import type { OuterContext } from './cli-context.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';

export interface ProcessContext {
  readonly context: OuterContext;
  /** Sets what the process exits with, and lets it end: a terminal that was read from would keep it alive. */
  end(exitCode: ExitCode): void;
}

/**
 * The world as this process sees it. The streams are looked up when they are needed: opening each takes a millisecond
 * of the time that `--help` has.
 */
export function processContext(stopping: AbortController): ProcessContext {
  let isStdinOpen = false;
  let isLost = false;
  /** An output that was lost is a failure; that a request may have been acted on outweighs it. */
  const endWith = (exitCode: typeof process.exitCode) => {
    process.exitCode = isLost && exitCode !== exitCodes.unknownOutcome ? exitCodes.usage : exitCode;
  };
  /** Ends the command in order, as Ctrl-C does: what it has under way must not be left open. */
  const unwritable = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException) => {
    stopping.abort();
    // A reader that has seen enough, such as `head`, is no failure.
    if (error.code === 'EPIPE') return;
    isLost = true;
    endWith(process.exitCode);
    if (stream === process.stdout) {
      process.stderr.write(`error: The output cannot be written (${error.code}): write it elsewhere.\n`);
    }
  };
  const context: OuterContext = {
    get stdin() {
      isStdinOpen = true;
      return process.stdin;
    },
    get stdout() {
      return stopWhenUnwritable(process.stdout, unwritable);
    },
    get stderr() {
      return stopWhenUnwritable(process.stderr, unwritable);
    },
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    fetch: (input, init) => globalThis.fetch(input, init),
    now: () => Date.now(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    sleep,
    signal: stopping.signal,
    askHidden: async (question) => (await import('../input/hidden-prompt.ts')).hiddenPrompt(question),
    confirm: async (question) => (await import('../input/confirm-prompt.ts')).confirmPrompt(question),
    openBrowser: (url) => openBrowser(url, process.platform),
  };
  return {
    context,
    end(exitCode) {
      endWith(exitCode);
      if (isStdinOpen) process.stdin.destroy();
    },
  };
}

function stopWhenUnwritable(
  stream: NodeJS.WriteStream,
  stop: (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException) => void,
): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0) {
    let isStopped = false;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // Each further write fails as well.
      if (!isStopped) stop(stream, error);
      isStopped = true;
    });
  }
  return stream;
}
