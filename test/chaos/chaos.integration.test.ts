import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { failedSeeds } from './failed-seeds.ts';

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

describe('The simulated world', () => {
  it('ends with books that agree', async () => {
    const output = await node('chaos.ts', '--scenarios', '20', '--seed', 'a');
    expect(output).toContain('failed: 0');
    expect(output).not.toContain('FAILED');
  }, 240_000);

  it.each(failedSeeds)(
    'ends so for seed %s, scenario %i, which failed once',
    async (seed, number) => {
      expect(await node('chaos.ts', '--seed', seed, '--only', String(number))).toBe('\n');
    },
    60_000,
  );

  it('gives the same trace for the same seed, byte for byte', async () => {
    const args = ['--seed', 'trace', '--only', '3', '--trace'];
    const [one, other] = [await node('chaos.ts', ...args), await node('chaos.ts', ...args)];
    expect(one.length).toBeGreaterThan(10_000);
    expect(other).toBe(one);
  }, 60_000);

  it('finds a defect that is planted', async () => {
    const defect = 'a repetition is stored again';
    const output = await node('chaos.ts', '--prove', '--seed', 'proof', '--defect', defect);
    expect(output).toMatch(/^a repetition is stored again: found after \d+\n$/);
  }, 120_000);

  it('refuses real time, network and randomness', async () => {
    const lines = (await node('refused-leaks.ts')).trim().split('\n');
    expect(lines.map((line) => line.replace(/^\w+ /, ''))).toEqual(lines.map(() => 'is refused'));
  }, 30_000);
});
