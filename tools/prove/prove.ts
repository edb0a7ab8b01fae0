import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../checks/entries.ts';

/*
 * `npm run prove [-- --minutes 30 --seed s]`: all that searches, one part after another, in the time that it is given;
 * in full without `--minutes`. `npm run prove -- chaos --scenarios 50` runs one part, with its own options.
 */

interface Part {
  /** A program, and the arguments that it always has. */
  readonly program: readonly [string, ...string[]];
  /** Its share of the time. Without one it only runs when it is named. */
  readonly share?: number;
  /** Whether it draws from a seed that the run gives it. */
  readonly isSeeded?: boolean;
  /** Whether its time is given in seconds. */
  readonly isInSeconds?: boolean;
}

const parts = {
  chaos: { program: ['test/chaos/chaos.ts', '--failed'], share: 2, isSeeded: true },
  defects: { program: ['test/chaos/chaos.ts', '--prove', '--seed', 'proof'], share: 2 },
  crash: { program: ['test/crash/crash.ts'], share: 1 },
  fuzz: { program: ['test/proof/fuzz.ts'], share: 0.25 },
  forgeries: { program: ['test/proof/forgeries.ts'], share: 0.25 },
  timing: { program: ['test/proof/timing.ts'], share: 0.25, isInSeconds: true },
  orders: { program: ['test/proof/orders.ts'], share: 0.25 },
  tests: { program: ['tools/prove/prove-tests.ts'], share: 6, isSeeded: true },
} as const satisfies Record<string, Part>;
type PartName = keyof typeof parts;

const [first, ...rest] = process.argv.slice(2);
if (first !== undefined && !first.startsWith('-')) {
  if (!isPart(first))
    throw new Error(`No part of the proof: ${first}. Parts: ${Object.keys(parts).join(', ')}`);
  process.exitCode = await runPart(first, rest);
} else await runAll();

async function runAll(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
  // What CI finds can be played again from the commit.
  const seed =
    values.seed ?? execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { cwd: root }).toString().trim();
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw new Error('--minutes must be a positive number.');
  const begun = performance.now();
  const queue = Object.keys(parts)
    .filter(isPart)
    .filter((name) => shareOf(name) > 0);
  const results: { part: PartName; result: string; seconds: number }[] = [];
  for (const [index, name] of queue.entries()) {
    const partBegun = performance.now();
    const shares = queue.slice(index).reduce((sum, other) => sum + shareOf(other), 0);
    // What an earlier part has not used, the later ones have.
    const left = minutes === undefined ? undefined : Math.max(minutes - (partBegun - begun) / 60_000, 0.1);
    const args = [
      ...(left === undefined ? [] : timeOf(name, (left * shareOf(name)) / shares)),
      ...(isSeeded(name) ? ['--seed', seed] : []),
    ];
    console.log(`\n== ${name} ${args.join(' ')}`);
    const code = await runPart(name, args);
    results.push({
      part: name,
      result: code === 0 ? 'ok' : 'FAILED',
      seconds: Math.round((performance.now() - partBegun) / 1_000),
    });
  }
  console.table(results);
  const failed = results.filter(({ result }) => result !== 'ok').length;
  console.log(`parts: ${results.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

async function runPart(name: PartName, args: readonly string[]): Promise<number> {
  const part: Part = parts[name];
  const [program, ...fixed] = part.program;
  const quiet = ['--disable-warning=ExperimentalWarning', '--disable-warning=PartnerExchangeWarning'];
  const child = spawn(process.execPath, [...quiet, join(root, program), ...fixed, ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

function timeOf(name: PartName, minutes: number): string[] {
  const part: Part = parts[name];
  return part.isInSeconds
    ? ['--seconds', String(Math.ceil(minutes * 60))]
    : ['--minutes', minutes.toFixed(2)];
}

function shareOf(name: PartName): number {
  const part: Part = parts[name];
  return part.share ?? 0;
}

function isSeeded(name: PartName): boolean {
  const part: Part = parts[name];
  return part.isSeeded === true;
}

function isPart(name: string): name is PartName {
  return Object.hasOwn(parts, name);
}
