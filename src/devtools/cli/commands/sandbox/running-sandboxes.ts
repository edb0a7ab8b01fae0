import { chmod, lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { sandboxUrlVariable } from '../../../../deployment/environment-variables.ts';
import { codeOf } from '../../../../errors/errors.ts';
import { firstFlaw } from '../../../../store/sqlite/private-file.ts';
import { makeFolder, stateFolder } from '../../inputs/folders.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';
import { port } from '../../terminal/flags.ts';

/** A sandbox that this user runs, as its file in the state directory describes it. */
const runningSandbox = z.object({
  /** Origin, without a slash at the end. */
  url: z.url({ protocol: /^http$/ }),
  /** The token of its control API. Only the file holds it: other users see arguments, and programs print environments. */
  token: z.string().regex(/^[\w-]{16,256}$/),
});
export type RunningSandbox = z.output<typeof runningSandbox>;

/** Chooses among several running sandboxes. */
export const sandboxFlags = {
  port: port.optional('number', 'The port of the sandbox, if several are running'),
};

/**
 * Notes a sandbox for the other commands, in a file of mode 0600.
 *
 * @returns removes the file
 * @throws {CliError} if the folder is not private to this user, and the errors of the system
 */
export async function announceSandbox(
  context: CliContext,
  { url, token }: RunningSandbox,
): Promise<() => Promise<void>> {
  const folder = foldersOf(context);
  await makeFolder(folder);
  await requireOwnFolder(folder);
  if (context.platform !== 'win32') await chmod(folder, 0o700);
  // This sandbox has the port now, so another file with this address belongs to a killed sandbox.
  for (const { path, sandbox } of await readAll(folder)) {
    if (sandbox?.url === url) await rm(path, { force: true });
  }
  const path = join(folder, `${process.pid}-${new URL(url).port}.json`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ url, token } satisfies RunningSandbox)}\n`);
  } finally {
    await file.close();
  }
  return () => rm(path, { force: true });
}

/**
 * The sandbox that a command is for: the one on this port, the one whose `--exec` runs the command, or the only one.
 *
 * @throws {CliError} if there is none, or several
 */
export async function chooseSandbox(
  context: CliContext,
  { port }: { readonly port?: number | undefined },
): Promise<RunningSandbox> {
  const running = await runningSandboxes(context);
  const known = running.map(({ url }) => url).join(', ');
  const start = 'start one in another terminal with "partner-exchange sandbox"';
  if (running.length === 0) throw new CliError(`No sandbox is running: ${start}.`);
  const named = running.filter(({ url }) =>
    port === undefined
      ? url === originOf(context.env[sandboxUrlVariable])
      : new URL(url).port === String(port),
  );
  if (named.length === 0 && (port !== undefined || context.env[sandboxUrlVariable] !== undefined)) {
    throw new CliError(`No sandbox is running there: there is ${known}.`);
  }
  const [sandbox, ...others] = named.length === 1 ? named : running;
  if (sandbox !== undefined && others.length === 0) return sandbox;
  throw new CliError(`Several sandboxes are running: choose one with --port (${known}).`);
}

function originOf(text: string | undefined): string | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text).origin : undefined;
}

/** Lists them in the order of their ports, and removes the files of sandboxes that were killed. */
async function runningSandboxes(context: CliContext): Promise<RunningSandbox[]> {
  const folder = foldersOf(context);
  const files = await readAll(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return files
    .flatMap(({ sandbox }) => sandbox ?? [])
    .toSorted((a, b) => a.url.localeCompare(b.url, 'en', { numeric: true }));
}

function foldersOf(context: CliContext): string {
  return stateFolder(context, 'sandboxes');
}

async function readAll(folder: string): Promise<{ path: string; sandbox: RunningSandbox | undefined }[]> {
  await requireOwnFolder(folder);
  const files = [];
  for (const name of await readdir(folder)) {
    const [, pid] = /^(\d{1,10})-\d{1,5}\.json$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(folder, name);
    if (isAlive(Number(pid))) files.push({ path, sandbox: await readSandbox(path) });
    else await rm(path, { force: true });
  }
  return files;
}

/** `undefined` for a file that is gone, half written, or not private to this user. */
async function readSandbox(path: string): Promise<RunningSandbox | undefined> {
  const fs = process.getBuiltinModule('node:fs');
  let descriptor: number | undefined;
  try {
    // Without waiting for the writer of a FIFO, and without following a link. Windows has neither flag.
    const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants;
    descriptor = fs.openSync(path, O_NONBLOCK | O_NOFOLLOW);
    const flaw = firstFlaw(fs.fstatSync(descriptor), ['not-a-file', 'foreign', 'hard-linked', 'exposed']);
    if (flaw !== undefined) return undefined;
    return runningSandbox.parse(JSON.parse(fs.readFileSync(descriptor, 'utf8')));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** A folder of another user could hold addresses that lead elsewhere. */
async function requireOwnFolder(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (stats.isDirectory() && firstFlaw(stats, ['foreign']) === undefined) return;
  throw new CliError(
    `${folder} is not a folder of yours: remove it, or set XDG_STATE_HOME to another place.`,
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // Without permission it is a process of another user, which has the number now.
    return false;
  }
}
