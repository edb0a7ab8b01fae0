import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isThorough } from '../../../support/repeat.ts';
import type { FullDiskFigures } from './child.ts';
import type { FullToTheEndFigures } from './handle-child.ts';

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

/** Runs a child of this folder on a small disk. Skipped where none can be mounted. */
function runOnSmallDisk(child: string, further: readonly string[], skip: (why: string) => void): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
  try {
    try {
      onSmallDisk(folder, ['true']);
    } catch {
      // What `maxBytes` refuses is tested everywhere.
      skip('no disk can be mounted here');
    }
    const program = join(import.meta.dirname, child);
    return JSON.parse(onSmallDisk(folder, [process.execPath, program, folder, ...further]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it('a disk that is really full has deliveries answered 503, and all that were stored are handled when there is room', ({
  skip,
}) => {
  // Sound: the child prints these.
  const figures = runOnSmallDisk('child.ts', [], skip) as FullDiskFigures;
  expect(figures).toMatchObject({ refused: 100, reasons: ['503 store_full'], dead: 0 });
  expect(figures.stored).toBeGreaterThan(100);
  expect(figures.handled).toBe(figures.stored);
}, 180_000);

// Small ones take long until the disk is full.
it.for(isThorough ? [500, 10_000, 60_000] : [60_000])(
  'on a disk that stays full, stored deliveries of %d bytes are handled once each, and new ones take their room',
  { timeout: 180_000 },
  (bodyBytes, { skip }) => {
    // Sound: the child prints these.
    const figures = runOnSmallDisk('handle-child.ts', [String(bodyBytes)], skip) as FullToTheEndFigures;
    const least = Math.min(500, 4_000_000 / bodyBytes);
    for (const { stored, handled, open } of figures.rounds) {
      expect(stored).toBeGreaterThan(least);
      expect({ handled, open }).toEqual({ handled: stored, open: 0 });
    }
    expect(figures).toMatchObject({ repeated: 0, storeErrors: 0 });
  },
);
