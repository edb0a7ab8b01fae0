import { describe, expect, it } from 'vitest';
import { findRealTime } from '../../tools/checks/real-time.ts';

const problemsIn = (text: string) => findRealTime({ 'test/a.test.ts': text });

describe('the check of real time in tests', () => {
  it.each([
    ['await new Promise((resolve) => setTimeout(resolve, 20));', ': a sleep'],
    ['globalThis.setTimeout(end, soonMs);', ': a sleep'],
    ["import { setTimeout as wait } from 'node:timers/promises';\nawait wait(20);", ': a sleep'],
    ['await sleepFor(ms);', ': a sleep'],
    ['run({ signal: AbortSignal.timeout(50) });', ': a sleep'],
    ['run({ a: 1, leaseMs: 999, b: 2 });', 'a limit under a second: '],
    ['const [lockMs, lookEveryMs] = [600, 50];', 'a limit under a second: '],
    ['run({ timeoutMs: isSlow ? 100 : 60_000 });', 'a limit under a second: '],
    ['expect(Date.now() - begun, name).toBeLessThanOrEqual(5);', 'an upper bound of measured time'],
    ['const begun = Date.now();\nconst took = end - begun;\nexpect(took).toBeLessThan(5);', 'an upper bound'],
    ['vi.useFakeTimers();\nexpect(performance.now() - begun).toBeLessThan(5);', 'an upper bound'],
    ["it('works', { timeout: 60_000, retry: 1 }, run);", 'test/a.test.ts:1'],
    // A reason that says nothing, or stands elsewhere.
    ['// real time:\nawait sleep(20);', ': a sleep'],
    ['run(); // real time: of run\nawait sleep(20);', ': a sleep'],
  ])('finds in %j: %s', (text, problem) => {
    expect(problemsIn(text)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    'setTimeout(resolve, 0);',
    'await clock.sleep(20);',
    'run({ timeLimitMs: 1_000, leaseMs: 65_000 });',
    'await inbox.stop({ timeoutMs: 0 });',
    'run({ leaseMs: 10, now: () => at });',
    'run({ leaseMs: 10, sleep });',
    'vi.useFakeTimers();\nrun({ timeLimitMs: 20 });\nsetTimeout(end, 20);',
    'expect(processorMs() - begun).toBeLessThan(5_000);',
    'const text = `setTimeout(resolve, 20)`;',
    '// real time: nothing answers.\nrun({ timeoutMs: 20 });',
    'open({ retry: { firstDelayMs: 10 } });',
  ])('passes over %j', (text) => {
    expect(problemsIn(text)).toEqual([]);
  });
});
