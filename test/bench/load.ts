import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readCommands, readEntries, root } from '../../tools/checks/entries.ts';
import { builtUrl } from './built-entries.ts';
import { estimate, ratio } from './measure.ts';
import type { Finding } from './report.ts';

const rounds = 21;
/** More, since what is compared differs little beside the noise of starting a process. */
const commandRounds = 61;
const probe = join(import.meta.dirname, 'load-probe.mjs');
const empty = 'data:text/javascript,';

/** Milliseconds that one import takes in a fresh process, and how that compares with what it cannot do without. */
export function benchLoad(): Finding[] {
  const entries = readEntries();
  const modules = new Map([
    ['empty', empty],
    ['node:crypto', 'node:crypto'],
    ['zod', import.meta.resolve('zod')],
    ...entries.map(({ subpath }) => [subpath, builtUrl(subpath)] as const),
  ]);
  const timings = new Map([...modules.keys()].map((name): [string, number[]] => [name, []]));
  // The first round fills the file system's cache.
  for (let round = 0; round <= rounds; round++) {
    for (const [name, url] of modules) {
      const time = Number(execFileSync(process.execPath, [probe, url], { encoding: 'utf8' }));
      if (round > 0) timings.get(name)?.push(time);
    }
  }
  const times = (name: string) => timings.get(name) ?? [];
  return [
    { what: 'an empty module', measured: estimate(times('empty')), unit: 'ms' },
    { what: 'node:crypto alone', measured: estimate(times('node:crypto')), unit: 'ms' },
    { what: 'zod alone', measured: estimate(times('zod')), unit: 'ms' },
    ...entries.map(
      ({ subpath }): Finding => ({ what: subpath, measured: estimate(times(subpath)), unit: 'ms' }),
    ),
    {
      what: './signature / node:crypto alone',
      measured: ratio(times('./signature'), times('node:crypto')),
      atMost: 3,
    },
    {
      what: './webhooks / zod alone',
      measured: ratio(times('./webhooks'), times('zod')),
      atMost: 0.5,
    },
  ];
}

/** How long a user waits for `--help`, compared with what Node takes for nothing. */
export function benchCommandLine(): Finding[] {
  const { 'partner-exchange': main = '' } = readCommands();
  const times = { node: [] as number[], help: [] as number[] };
  for (let round = 0; round <= commandRounds; round++) {
    const node = timeProcess('-e', '0');
    const help = timeProcess(join(root, main), '--help');
    // The first round fills the file system's cache.
    if (round === 0) continue;
    times.node.push(node);
    times.help.push(help);
  }
  return [
    { what: 'node -e 0', measured: estimate(times.node), unit: 'ms' },
    { what: 'partner-exchange --help', measured: estimate(times.help), unit: 'ms' },
    { what: 'partner-exchange --help / node -e 0', measured: ratio(times.help, times.node), atMost: 1.65 },
  ];
}

function timeProcess(...args: string[]): number {
  const start = performance.now();
  execFileSync(process.execPath, args);
  return performance.now() - start;
}
