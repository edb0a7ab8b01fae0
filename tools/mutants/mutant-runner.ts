import { appendFileSync } from 'node:fs';
import { TestRunner } from 'vitest';

type Test = Parameters<TestRunner['onBeforeRunTask']>[0];

/** The switches that Stryker's instrumentation reads. */
interface Switches {
  activeMutant: string | undefined;
  currentTestId: string | undefined;
  hitCount: number;
  hitLimit: number;
  readonly mutantCoverage: Readonly<Record<'static', Hits>> & { readonly perTest: Record<string, Hits> };
}

type Hits = Record<string, number>;

/** What a test says of a mutant that it reached: the last verdict of a mutant counts. */
export type Verdict =
  | { readonly mutant: string; readonly status: 'killed' | 'survived'; readonly test: string }
  /** A test that fails without a mutant judges none. */
  | { readonly mutant?: never; readonly status: 'unusable'; readonly test: string };

interface Run {
  readonly switches: Switches;
  readonly killed: Set<string>;
}

/** Files share a process; what they know of the mutants must survive the end of a file. */
const state = (() => {
  const key = Symbol.for('partner-exchange-tests.mutants');
  const known: Run | undefined = Reflect.get(globalThis, key);
  if (known !== undefined) return known;
  const switches: Switches = {
    activeMutant: undefined,
    currentTestId: undefined,
    hitCount: 0,
    hitLimit: Number.POSITIVE_INFINITY,
    mutantCoverage: { static: {}, perTest: {} },
  };
  const run: Run = { switches, killed: new Set() };
  Reflect.set(globalThis, key, run);
  Reflect.set(globalThis, '__stryker__', switches);
  return run;
})();

const every = Number(process.env.MUTANTS_EVERY ?? 1);

/** A mutant in a loop runs at most this many times as often as the code without it. */
const hitFactor = 100;

/**
 * Repeats each test once for each mutant that it reaches and that no test has killed yet. After a kill the test runs
 * without a mutant: if it fails then, the mutant has spoiled the process, and the test is over.
 */
export default class MutantRunner extends TestRunner {
  #waiting: string[] = [];
  #mutant: string | undefined;

  override onBeforeRunTask(test: Test): Promise<void> {
    test.repeats = Number.MAX_SAFE_INTEGER;
    this.#waiting = [];
    this.#mutant = undefined;
    return super.onBeforeRunTask(test);
  }

  override onBeforeTryTask(test: Test, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    if (test.type !== 'test') return;
    const { switches, killed } = state;
    if (options.repeats === 0) {
      switches.currentTestId = test.id;
      return;
    }
    const hits = switches.mutantCoverage.perTest[test.id] ?? {};
    const hasFailed = test.result?.attempts?.at(-1)?.state === 'fail';
    // Kept by the thousand otherwise.
    test.result?.attempts?.splice(0);
    if (test.result?.errors !== undefined) test.result.errors.length = 0;
    if (options.repeats === 1) {
      switches.currentTestId = undefined;
      if (hasFailed) report({ status: 'unusable', test: test.fullName });
      else
        this.#waiting = Object.keys(hits).filter(
          (mutant) => Number(mutant) % every === 0 && !killed.has(mutant),
        );
    } else if (this.#mutant === undefined) {
      if (hasFailed) this.#waiting = [];
    } else {
      if (hasFailed) killed.add(this.#mutant);
      report({ mutant: this.#mutant, status: hasFailed ? 'killed' : 'survived', test: test.fullName });
      if (hasFailed) {
        this.#mutant = undefined;
        this.#activate(undefined, hits);
        return;
      }
    }
    this.#mutant = this.#waiting.shift();
    this.#activate(this.#mutant, hits);
    if (this.#mutant === undefined) test.context.skip();
  }

  #activate(mutant: string | undefined, hits: Hits): void {
    const { switches } = state;
    switches.activeMutant = mutant;
    switches.hitCount = 0;
    switches.hitLimit = mutant === undefined ? Number.POSITIVE_INFINITY : (hits[mutant] ?? 1) * hitFactor;
  }
}

function report(verdict: Verdict): void {
  appendFileSync(process.env.MUTANT_VERDICTS ?? '', `${JSON.stringify(verdict)}\n`);
}
