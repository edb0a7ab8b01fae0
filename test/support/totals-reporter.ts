import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

declare module 'vitest' {
  interface TaskMeta {
    /** Why a test or a group is skipped: see `skipped`. */
    skipped?: string;
  }
}

/** Ends a run with its totals, and with the number of skipped tests for each reason. */
export default class TotalsReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const reasons = new Map<string, number>();
    for (const testModule of testModules) {
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state]++;
        if (state !== 'skipped' && state !== 'pending') continue;
        const reason = reasonOf(test);
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
      // It was never collected.
      if (testModule.state() === 'failed' && testModule.children.size === 0) counts.failed++;
    }
    for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note) return result.note;
  for (let task: TestCase | TestSuite | TestModule = test; task.type !== 'module'; task = task.parent) {
    const { skipped } = task.meta();
    if (skipped) return skipped;
  }
  const [, named] = /skipped[:,] (.*)/.exec(test.name) ?? [];
  return named ?? `no reason is given in ${test.module.relativeModuleId}: ${test.fullName}`;
}
