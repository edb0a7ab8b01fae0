#!/usr/bin/env node
import { sleep } from '../../internal/backoff.ts';
import { runCli } from './run.ts';
import { exitCodes, finalExitCode, type World } from './terminal/context.ts';
import { visibleText } from './terminal/terminal-text.ts';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The first signal lets the command end in order; the second ends it at once.
    if (stopping.signal.aborted) process.exit(exitCodes.stopped);
    process.stderr.write('Stopping. Ctrl-C again ends at once.\n');
    stopping.abort();
  });
}

// A warning is one line. Warnings of Node about itself are left out.
process.removeAllListeners('warning');
process.on('warning', ({ name, message }) => {
  if (name === 'PartnerExchangeWarning') process.stderr.write(`warning: ${visibleText(message)}\n`);
});

// npx runs it on whatever Node there is.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    `error: Node ${process.versions.node} is too old: install 22.12 or later, and run this again.\n`,
  );
  process.exit(exitCodes.usage);
}

// Not awaited at the top: commands are loaded from files that import this one, and would wait for it.
const { world, end } = processWorld(stopping);
void runCli(process.argv.slice(2), world).then(end);

/**
 * The world as this process sees it. The streams are looked up when they are needed: opening each takes a millisecond
 * of the time that `--help` has.
 */
function processWorld(stopping: AbortController) {
  const outputs = new Set<NodeJS.WriteStream>();
  let isOutputLost = false;
  let endedWith: number | undefined;
  /** Ends the command in order, as Ctrl-C does, so that no request is left open. */
  const stop = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException) => {
    stopping.abort();
    // A reader such as `head` may stop reading; that is no failure. Each further write fails as well.
    if (error.code === 'EPIPE' || isOutputLost) return;
    isOutputLost = true;
    // The process may end before the command does.
    process.exitCode = finalExitCode(endedWith ?? exitCodes.ok, { isOutputLost });
    if (stream === process.stdout) {
      process.stderr.write(`error: The output cannot be written (${error.code}): write it elsewhere.\n`);
    }
  };
  const open = (stream: NodeJS.WriteStream) => {
    if (!outputs.has(stream)) stream.on('error', (error) => stop(stream, error));
    outputs.add(stream);
    return stream;
  };
  const world: World = {
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return open(process.stdout);
    },
    get stderr() {
      return open(process.stderr);
    },
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    fetch,
    now: () => Date.now(),
    random: (size) => crypto.getRandomValues(new Uint8Array(size)),
    sleep,
    signal: stopping.signal,
    askHidden,
    confirm,
  };
  return {
    world,
    /** Ends the process once its output is written, even if connections are still open. */
    async end(exitCode: number): Promise<void> {
      endedWith = exitCode;
      process.exitCode = finalExitCode(exitCode, { isOutputLost });
      await Promise.all([...outputs].map(flush));
      process.exit();
    },
  };
}

/** Resolves when everything is written or lost. */
async function flush(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => void stream.write('', () => resolve()));
  // An error is emitted after the callback.
  await new Promise((resolve) => setImmediate(resolve));
}

async function askHidden(message: string): Promise<string | undefined> {
  const { isCancel, password } = await import('@clack/prompts');
  const answer = await password({ message, input: process.stdin, output: promptTerminal() });
  return isCancel(answer) ? undefined : (answer ?? '');
}

async function confirm(message: string): Promise<boolean> {
  const prompts = await import('@clack/prompts');
  const terminal = { input: process.stdin, output: promptTerminal() };
  const answer = await prompts.confirm({ message, initialValue: false, ...terminal });
  return !prompts.isCancel(answer) && answer;
}

/** Prompts go to stderr. A terminal without a size says 0 columns, which would put each character on its own line. */
function promptTerminal(): NodeJS.WriteStream {
  const { stderr } = process;
  if (stderr.isTTY && stderr.columns === 0) {
    stderr.columns = 80;
    stderr.rows = 24;
  }
  return stderr;
}
