import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A new folder that is gone, with all it holds, when the test and its `afterEach` are over.
 * @param atEnd registers the removal: `afterAll` for a folder of a whole file, the one of the context in a test that
 *   runs beside others
 */
export function scratchFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
