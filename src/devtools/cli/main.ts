#!/usr/bin/env node
import { sleep } from '../../internal/backoff.ts';
import { runCli } from './run.ts';
import { exitCodes, finalExitCode, type Variables, type World } from './terminal/context.ts';
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
    openBrowser: (url) => openBrowser(url, process),
    runCommand,
  };
  return {
    world,
    /** Ends the process once its output is written, whatever is still connected. */
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

async function runCommand(command: string, env: Variables): Promise<number> {
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  // On a terminal, Ctrl-C reaches every process of the job. Elsewhere only this process gets signals, and passes them
  // on to a group of its own: everything that the shell has started.
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  const detached = !hasTerminal && process.platform !== 'win32';
  const child = spawn(command, { shell: true, stdio: 'inherit', env, detached });
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (detached && child.pid !== undefined) process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch {
      // It has just ended.
    }
  };
  const forwarded = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    .filter((signal) => !(hasTerminal && signal === 'SIGINT'))
    .map((signal) => ({ signal, forward: () => kill(signal) }));
  // A second signal ends this process at once.
  const onExit = () => kill('SIGKILL');
  for (const { signal, forward } of forwarded) process.on(signal, forward);
  process.once('exit', onExit);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]),
      );
    });
  } finally {
    for (const { signal, forward } of forwarded) process.off(signal, forward);
    process.off('exit', onExit);
  }
}

async function openBrowser(
  url: string,
  { platform, env }: { platform: NodeJS.Platform; env: Variables },
): Promise<void> {
  const { spawn } = await import('node:child_process');
  const [command, ...args] = openers[platform] ?? ['xdg-open'];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...args, url], {
      stdio: 'ignore',
      detached: true,
      env: harmlessVariables(env),
    });
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}

/** `start` is no program, and would take a quoted address for a title; `rundll32` takes the address as it is. */
const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** The variables that a desktop program needs, and no others: the environment holds keys. */
function harmlessVariables(env: Variables): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => harmlessName.test(name)));
}

const harmlessName = new RegExp(
  `^(?:${[
    'PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|BROWSER',
    'DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|DESKTOP_SESSION|GNOME_DESKTOP_SESSION_ID',
    'KDE_FULL_SESSION|KDE_SESSION_VERSION|XDG_[A-Z]+(?:_[A-Z]+)*|WSL_DISTRO_NAME|WSL_INTEROP',
    'APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROGRAMDATA|PROGRAMFILES(?:\\(X86\\))?|PROGRAMW6432',
    'SYSTEMDRIVE|SYSTEMROOT|TEMP|TMP|USERDOMAIN|USERNAME|USERPROFILE|WINDIR',
  ].join('|')})$`,
  // Windows spells them in any case.
  'i',
);
