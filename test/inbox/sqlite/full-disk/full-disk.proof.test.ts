import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FullDiskFigures } from './child.ts';

/** Runs a program that sees a disk of 32 MB in the folder, and nobody else does. */
function onSmallDisk(folder: string, command: readonly string[]): string {
  const mount = 'mount -t tmpfs -o size=32m tmpfs "$0" && exec "$@"';
  return execFileSync(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', mount, folder, ...command],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 170_000,
    },
  );
}

/** Runs the child of this folder on a small disk. Skipped where none can be mounted. */
function runOnSmallDisk(skip: (why: string) => void): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
  try {
    try {
      onSmallDisk(folder, ['true']);
    } catch {
      skip('no disk can be mounted here');
    }
    const program = join(import.meta.dirname, 'child.ts');
    return JSON.parse(onSmallDisk(folder, [process.execPath, program, folder]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it('a disk that is really full has deliveries answered 503, and all that were stored are handled when there is room', ({
  skip,
}) => {
  // Sound: the child prints these.
  const figures = runOnSmallDisk(skip) as FullDiskFigures;
  expect(figures).toMatchObject({ refused: 100, reasons: ['503 store_full'], dead: 0 });
  expect(figures.stored).toBeGreaterThan(20);
  expect(figures.handled).toBe(figures.stored);
}, 180_000);
