import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tools/checks/entries.ts';
import { writeCharts } from '../bench/chart.ts';
import { engines } from './plan.ts';
import { type Growth, medianOf, type Sample } from './samples.ts';
import type { Figures } from './traffic.ts';

export interface SoakRun {
  readonly minutes: number;
  readonly cores: number;
  /** In the order of the engines. */
  readonly figures: readonly Figures[];
  readonly samples: readonly Sample[];
  readonly growth: readonly Growth[];
}

const titles = { sqlite: 'SQLite', redis: 'Redis', postgres: 'PostgreSQL' } as const;
const rows: Readonly<Record<keyof Figures, string>> = {
  orders: 'orders asked for',
  credited: 'credited by the service',
  codes: 'codes sent, each checked twice at once',
  messages: 'texts, each to many numbers',
  rotations: 'rotations of keys',
  restarts: 'rolling restarts',
  lost: '**lost**',
  doubled: '**doubled**',
};
const measured = {
  heap: 'MB of heap in use',
  resident: 'MB of memory',
  descriptors: 'descriptors',
  files: 'files of SQLite',
} as const;

/** Writes docs/details/soak.md, and its chart. */
export function writeSoakPage({ minutes, cores, figures, samples, growth }: SoakRun): void {
  const lines = engines.map((engine) => ({
    label: titles[engine],
    own: true,
    points: Array.from({ length: Math.ceil(minutes) }, (_, minute) => {
      const own = samples.filter((each) => each.engine === engine && Math.floor(each.minutes) === minute);
      return [minute + 1, medianOf(own.map(({ heap }) => heap))] as const;
    }),
  }));
  const description = `The heap in use stays level for ${minutes} minutes, over each store.`;
  const title = 'Memory of the processes that stay';
  const y = 'MB of heap in use after a garbage collection';
  const chart = {
    kind: 'lines',
    name: 'soak',
    title,
    description,
    scale: 'linear',
    x: 'minutes',
    y,
    lines,
  } as const;
  writeCharts([chart], join(root, 'docs', 'images'));
  const head = `| | ${engines.map((engine) => titles[engine]).join(' | ')} |\n|---|---|---|---|`;
  const counts = Object.entries(rows).map(
    ([name, title]) =>
      `| ${title} | ${figures.map((each) => format(each[name as keyof Figures])).join(' | ')} |`,
  );
  const grown = Object.entries(measured).map(([name, title]) => {
    const cells = growth.filter(({ of }) => of === name);
    return `| ${title} | ${cells.map(({ before, after }) => (before === 0 ? '–' : `${format(before)} → ${format(after)}`)).join(' | ')} |`;
  });
  writeFileSync(
    join(root, 'docs', 'details', 'soak.md'),
    `# Soak

Details: skip this page unless you ask how the package behaves over time. \`npm run prove -- soak --write\` wrote it.

Three partners, each of two processes behind a balancer, took the traffic of a [hostile](sandbox.md) service for ${minutes} minutes, on ${cores} cores: events through receiver, inbox and order journal, one-time codes, texts to many numbers. Each minute every partner rotated its keys, and one of its processes was replaced while the other went on.

${head}
${counts.join('\n')}

An order is lost if the service credited it and its effect did not happen, doubled if the service has two of its id or the effect happened twice. A code is doubled if both checks accept it, a message if a number got two.

The other process of each partner stayed. Its median in the second third of the run, and in the last one:

${head}
${grown.join('\n')}

![${description}](../images/soak.svg)
`,
  );
}

function format(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value < 1_000 ? 3 : 21 });
}
