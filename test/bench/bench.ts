import { bundleEntries } from '../package/sizes.ts';
import { benchEvent } from './event.ts';
import { benchBacklog } from './inbox-backlog.ts';
import { benchLarge } from './large.ts';
import { benchLoad } from './load.ts';
import { type Finding, isOver, printFindings } from './report.ts';

const sections: [title: string, bench: () => Finding[] | Promise<Finding[]>][] = [
  ['verify + parse + narrow a 923-byte event', benchEvent],
  ['verify 1 MiB / (SHA-512 + JSON.parse) of the same text', benchLarge],
  ['load in a fresh process', benchLoad],
  ['SQLite inbox with so many waiting / with 1,000 waiting', benchBacklog],
  [
    'size: minified + gzip, without zod and ky (1 kB = 1000 B)',
    // Without a budget: what may not leak into an entry is checked by test/package.
    async () =>
      (await bundleEntries()).map(({ subpath, size, budget }) => ({
        what: budget === undefined ? subpath : `${subpath}, to be about ${budget} B`,
        measured: size,
        unit: 'B',
      })),
  ],
];

console.log('Ratios within this run, medians of interleaved rounds; less is better.');
let over = 0;
for (const [title, bench] of sections) {
  const findings = await bench();
  printFindings(title, findings);
  over += findings.filter(isOver).length;
}
console.log(over === 0 ? '\nEvery budget is kept.' : `\n${over} OVER budget.`);
if (over > 0 && process.argv.includes('--check')) process.exitCode = 1;
