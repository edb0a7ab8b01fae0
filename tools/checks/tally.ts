/** Named checks that go on after a failure and end in one line of totals. */
export interface Tally {
  /** The names of the checks that failed, each with why. */
  readonly failures: readonly string[];
  /** Runs a check; what it throws is its failure. */
  check(name: string, run: () => unknown): Promise<void>;
  /** Prints the totals, and makes the process fail if a check did or if there was none. */
  finish(): void;
}

export function startTally(): Tally {
  let passed = 0;
  const failures: string[] = [];
  return {
    failures,
    async check(name, run) {
      try {
        await run();
        passed++;
        console.log(`ok    ${name}`);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        failures.push(`${name}\n${indent(why)}`);
        console.log(`FAIL  ${name}\n${indent(why)}`);
      }
    },
    finish() {
      console.log(`\n${passed} passed, ${failures.length} failed`);
      if (failures.length > 0 || passed === 0) process.exitCode = 1;
    },
  };
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '      ');
}
