import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../internal/error-code.ts';
import { stateFolder } from '../inputs/state-folder.ts';
import { type CliContext, CliError } from '../terminal/context.ts';
import { readSavedRequest, type SavedRequest } from './saved-deliveries.ts';

/** How the name of a file says where its delivery stands; every name ends as that of `done`. */
const endings = {
  /** An earlier version acknowledged it, and has not posted it to the receiver. */
  pending: '.pending.json',
  /** An earlier version acknowledged it, and the receiver refused it. */
  refused: '.refused.json',
  /** Its signature is wrong. */
  unsigned: '.unsigned.json',
  done: '.json',
} as const;

export type SavedState = keyof typeof endings;

/** The names of our files. Others are neither counted nor removed. */
const ownName = /^\d{8}T\d{9}Z-\d{6,}-[0-9a-f]{8}(?:\.pending|\.refused|\.unsigned)?\.json$/;

export function isOwnName(name: string): boolean {
  return ownName.test(name);
}

/** The names sort by time. */
export function savedName(
  { at, count, owner }: { at: number; count: number; owner: string },
  state: 'done' | 'unsigned',
): string {
  const time = new Date(at).toISOString().replaceAll(/[-:.]/g, '');
  return `${time}-${String(count).padStart(6, '0')}-${owner}${endings[state]}`;
}

export function savedState(name: string): SavedState {
  const marked = (['pending', 'refused', 'unsigned'] as const).find((state) => name.endsWith(endings[state]));
  return marked ?? 'done';
}

export interface KeptFile {
  readonly folder: string;
  readonly name: string;
  readonly state: SavedState;
}

/** Lists what `listen` keeps in a folder, the oldest first. @throws {CliError} if there is no such folder */
export async function listKept(folder: string): Promise<KeptFile[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new CliError('listen has kept nothing there: check --folder.', { cause });
  });
  return names
    .filter(isOwnName)
    .sort()
    .map((name) => ({ folder, name, state: savedState(name) }));
}

/** Reads a kept delivery; `undefined` if it has been removed or renamed meanwhile. */
export async function readKept({ folder, name }: KeptFile): Promise<SavedRequest | undefined> {
  const bytes = await readFile(join(folder, name)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  return bytes && readSavedRequest(bytes, name);
}

/** The folder in which an earlier version kept events for a receiver that was down. */
export function formerQueue(context: CliContext, target: URL): string {
  const id = createHash('sha256').update(target.href).digest('hex').slice(0, 16);
  return stateFolder(context, 'listen', id);
}
