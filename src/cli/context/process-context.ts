import { sleep } from '../../runtime/sleep.ts';
import { openBrowser } from '../output/open-browser.ts';
import type { OuterContext } from './cli-context.ts';
import { exitCodes } from './exit-code.ts';

export interface ProcessContext {
  readonly context: OuterContext;
  /** Lets the process end: a terminal that was read from would keep it alive. */
  close(): void;
}

/**
 * The world as this process sees it. The streams are looked up when they are needed: opening each takes a millisecond
 * of the time that `--help` has.
 */
export function processContext(signal: AbortSignal): ProcessContext {
  let isStdinOpen = false;
  const context: OuterContext = {
    get stdin() {
      isStdinOpen = true;
      return process.stdin;
    },
    get stdout() {
      return endWhenUnread(process.stdout);
    },
    get stderr() {
      return endWhenUnread(process.stderr);
    },
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    fetch: (input, init) => globalThis.fetch(input, init),
    now: () => Date.now(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    sleep,
    signal,
    askHidden: async (question) => (await import('../input/hidden-prompt.ts')).hiddenPrompt(question),
    confirm: async (question) => (await import('../input/confirm-prompt.ts')).confirmPrompt(question),
    openBrowser: (url) => openBrowser(url, process.platform),
  };
  return {
    context,
    close() {
      if (isStdinOpen) process.stdin.destroy();
    },
  };
}

/** A reader that has seen enough, such as `head`, is no failure. */
function endWhenUnread(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      process.exit(error.code === 'EPIPE' ? process.exitCode : exitCodes.usage);
    });
  }
  return stream;
}
