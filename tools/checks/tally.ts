/** Named checks that go on after a failure and end in one line of totals. */
export interface Tally {
  /** Runs a check; what it throws is its failure. */
  check(name: string, run: () => unknown): Promise<void>;
  /** Prints the totals, and makes the process fail if a check did or if there was none. */
  finish(): void;
}

export function startTally(): Tally {
  let passed = 0;
  let failed = 0;
  return {
    async check(name, run) {
      try {
        await run();
        passed++;
        console.log(`ok    ${name}`);
      } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${indent(error instanceof Error ? error.message : String(error))}`);
      }
    },
    finish() {
      console.log(`\n${passed} passed, ${failed} failed`);
      if (failed > 0 || passed === 0) process.exitCode = 1;
    },
  };
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '      ');
}
