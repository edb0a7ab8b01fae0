import type { TestOptions } from 'vitest';

/** Options of a test or a group that is skipped if there is a reason; the run ends with how many were, for each reason. */
export function skipped(reason: string | false | undefined): Pick<TestOptions, 'skip' | 'meta'> {
  return reason ? { skip: true, meta: { skipped: reason } } : {};
}
