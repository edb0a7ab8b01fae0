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
      timeout: 30_000,
    },
  );
}

it('a disk that is really full has deliveries answered 503, and all that were stored are handled when there is room', ({
  skip,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
  try {
    try {
      onSmallDisk(folder, ['true']);
    } catch {
      // What `maxBytes` refuses is tested everywhere.
      skip('no disk can be mounted here');
    }
    const child = join(import.meta.dirname, 'child.ts');
    const figures: FullDiskFigures = JSON.parse(onSmallDisk(folder, [process.execPath, child, folder]));
    expect(figures).toMatchObject({ refused: 100, reasons: ['503 store_full 13'], dead: 0 });
    expect(figures.stored).toBeGreaterThan(100);
    expect(figures.handled).toBe(figures.stored);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 40_000);
