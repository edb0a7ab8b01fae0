import { parseArgs } from 'node:util';
import { bundleEntries } from '../../tools/checks/sizes.ts';
import { benchClient } from './client.ts';
import { benchEvent } from './event.ts';
import { benchBacklog } from './inbox-backlog.ts';
import { benchSqliteInbox } from './inbox-sqlite.ts';
import { benchKeyRing } from './key-ring.ts';
import { benchLarge } from './large.ts';
import { benchCommandLine, benchLoad } from './load.ts';
import { type Finding, report, type Section } from './report.ts';
import { benchBodySize, benchRemembered } from './scale.ts';
import { benchSigning } from './signing.ts';

const { values: flags } = parseArgs({ options: { plot: { type: 'boolean', default: false } } });

type Measured = Finding[] | Omit<Section, 'title'>;

const benches: [title: string, bench: () => Measured | Promise<Measured>][] = [
  ['verify + parse + narrow a 923-byte event', benchEvent],
  ['sign / (JSON.stringify + createHmac + JSON.stringify with the signature)', benchSigning],
  ['verify 1 MiB / (SHA-512 + JSON.parse) of the same text', benchLarge],
  ['a whole delivery, handled in memory, by the size of its body', benchBodySize],
  ['the memory of handled deliveries', benchRemembered],
  ['a delivery by the number of keys', benchKeyRing],
  ['load in a fresh process', benchLoad],
  ['start of the command line', benchCommandLine],
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

console.log('Ratios within this run, medians of interleaved rounds; ± is half of the 95 % interval.');
const sections: Section[] = [];
for (const [title, bench] of benches) {
  const measured = await bench();
  sections.push({ title, ...(Array.isArray(measured) ? { findings: measured } : measured) });
}
sections.push(...(await benchClient()));
sections.push(...(await benchSqliteInbox()));
report(sections, flags);
