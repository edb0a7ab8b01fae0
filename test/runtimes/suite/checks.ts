/** What a runtime did: printed by run-runtimes.ts, one line a runtime. */
export interface Report {
  readonly passed: number;
  /** The name of each failed check, with why. */
  readonly failures: readonly string[];
  /** What a reader has to know of this run. */
  readonly notes: readonly string[];
}

/** Named checks that need nothing of a test framework: they run in a Worker too. */
export class Checks {
  #passed = 0;
  readonly #failures: string[] = [];
  readonly #notes: string[] = [];

  async run(name: string, check: () => unknown): Promise<void> {
    try {
      await check();
      this.#passed++;
    } catch (error) {
      this.#failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  report(): Report {
    return { passed: this.#passed, failures: this.#failures, notes: this.#notes };
  }
}

/** Fails unless both have the same JSON. */
export function equal(actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${found} is not ${wanted}`);
}

/** The error that is thrown; fails when there is none. */
export async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
