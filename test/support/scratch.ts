import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder that is gone, with all it holds, when the test and its `afterEach` are over. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
