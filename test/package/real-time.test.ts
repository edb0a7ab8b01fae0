import { describe, expect, it } from 'vitest';
import { findRealTime } from '../../tools/checks/real-time.ts';

const problemsIn = (text: string) => findRealTime({ 'test/a.test.ts': text });

describe('the check of real time in tests', () => {
  it.each([
    'await new Promise((resolve) => setTimeout(resolve, 20));',
    'setTimeout(() => controller.abort(), 5_000);',
    'globalThis.setTimeout(end, soonMs);',
    "import { setTimeout } from 'node:timers/promises';\nawait setTimeout(20);",
    "import { setTimeout as wait } from 'node:timers/promises';\nawait wait(20);",
    'await sleep(20);',
    'await sleepFor(ms);',
    'run({ signal: AbortSignal.timeout(50) });',
  ])('finds the sleep in %j', (text) => {
    expect(problemsIn(text)).toEqual([expect.stringMatching(/^test\/a\.test\.ts:\d: a sleep$/)]);
  });

  it.each([
    'run({ timeLimitMs: 400 });',
    'run({ a: 1, leaseMs: 999, b: 2 });',
    'run({ storeTimeoutMs: 20 });',
    'run({ totalTimeoutMs: 1 });',
    'const lockMs = 500;',
    'const [lockMs, lookEveryMs] = [600, 50];',
    'run({ timeoutMs: isSlow ? 100 : 60_000 });',
  ])('finds the limit in %j', (text) => {
    expect(problemsIn(text)).toEqual([expect.stringContaining('a limit under a second: ')]);
  });

  it.each([
    'expect(performance.now() - begun).toBeLessThan(5_000);',
    'expect(Date.now() - begun, name).toBeLessThanOrEqual(5);',
    'const tookMs = performance.now() - begun;\nexpect(tookMs).toBeLessThan(5_000);',
    'const begun = Date.now();\nconst took = end - begun;\nexpect(took).toBeLessThan(5);',
  ])('finds the upper bound in %j', (text) => {
    expect(problemsIn(text)).toEqual([expect.stringContaining('an upper bound of measured time')]);
  });

  it('finds a test that is run again when it fails, and not the retries of a client', () => {
    expect(problemsIn("it('works', { timeout: 60_000, retry: 1 }, run);")).toHaveLength(1);
    expect(problemsIn('open({ retry: { firstDelayMs: 10 } });')).toEqual([]);
    expect(problemsIn("refuses([{ retry: 5 }, 'retry needs an options object.']);")).toEqual([]);
  });

  it.each([
    'setTimeout(resolve);',
    'setTimeout(resolve, 0);',
    'await clock.sleep(20);',
    'run({ timeLimitMs: 1_000, leaseMs: 65_000 });',
    'await inbox.stop({ timeoutMs: 0 });',
    'refuses({ timeLimitMs: 0.5, leaseMs: -1 });',
    'run({ leaseMs: 10, now: () => at });',
    'run({ leaseMs: 10, sleep });',
    'vi.useFakeTimers();\nrun({ timeLimitMs: 20 });\nsetTimeout(end, 20);',
    'expect(processorMs() - begun).toBeLessThan(5_000);',
    'expect(performance.now() - begun).toBeGreaterThan(5);',
    'const text = `setTimeout(resolve, 20)`;',
    '// real time: nothing answers.\nrun({ timeoutMs: 20 });',
    'await sleep(20); // real time: the other process gets its turn.',
  ])('passes over %j', (text) => {
    expect(problemsIn(text)).toEqual([]);
  });

  it('takes no reason that says nothing, or stands elsewhere', () => {
    const texts = ['// real time:\nawait sleep(20);', 'run(); // real time: of run\nawait sleep(20);'];
    expect(texts.flatMap(problemsIn)).toHaveLength(2);
  });

  it('still finds an upper bound of measured time beside fake timers', () => {
    const text = 'vi.useFakeTimers();\nexpect(performance.now() - begun).toBeLessThan(5);';
    expect(problemsIn(text)).toHaveLength(1);
  });
});
