import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** In a process of its own, since the world replaces clocks and timers. Resolves with its output also if it fails. */
async function node(file: string, ...args: string[]): Promise<string> {
  const flags = ['--disable-warning=ExperimentalWarning', `${import.meta.dirname}/${file}`];
  const options = { maxBuffer: 2 ** 28 };
  return await run(process.execPath, [...flags, ...args], options).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; message: string }) => `${error.stdout}\nFAILED ${error.message}`,
  );
}

const isInFull = Boolean(process.env.CI) || process.env.TEST_THOROUGH === '1';

describe('The simulated world', () => {
  it('ends with books that agree, also for all seeds that failed once', async () => {
    // New scenarios each time: what fails prints how to play it again.
    const [scenarios, seed] = isInFull ? ['300', `ci-${Date.now().toString(36)}`] : ['20', 'ci1'];
    const output = await node('chaos.ts', '--failed', '--scenarios', scenarios, '--seed', seed);
    expect(output, output).toMatch(/failed: 0,/);
    expect(output, output).not.toContain('FAILED');
  }, 600_000);

  it('gives the same trace for the same seed, byte for byte', async () => {
    const args = ['chaos.ts', '--seed', 'trace', '--only', '4', '--trace'] as const;
    const [one, other] = await Promise.all([node(...args), node(...args)]);
    expect(one.length).toBeGreaterThan(10_000);
    expect(other).toBe(one);
  }, 60_000);

  it('finds a defect that is planted', async () => {
    const defect = 'a repetition is stored again';
    const output = await node('chaos.ts', '--prove', defect, '--seed', 'proof');
    expect(output).toMatch(
      /^a repetition is stored again: found after \d+\n1 of 1 defects found, 0 not found: .+\n$/,
    );
  }, 120_000);
});
