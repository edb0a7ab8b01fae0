import { benchClient } from './client.ts';
import { benchEvent } from './event.ts';
import { benchBacklog } from './inbox-backlog.ts';
import { benchSqliteInbox } from './inbox-sqlite.ts';
import { benchLarge } from './large.ts';
import { benchCommandLine, benchLoad } from './load.ts';
import { type Finding, report, type Section } from './report.ts';

const benches: [title: string, bench: () => Finding[] | Promise<Finding[]>][] = [
  ['verify + parse + narrow a 923-byte event', benchEvent],
  ['verify 1 MiB / (SHA-512 + JSON.parse) of the same text', benchLarge],
  ['load in a fresh process', benchLoad],
  ['start of the command line', benchCommandLine],
  ['SQLite inbox with so many waiting / with 1,000 waiting', benchBacklog],
  ['SQLite inbox: stored a second / the same rows inserted in groups by plain SQL', benchSqliteInbox],
  ['processor time of a call, 32 at once, against a local server', benchClient],
];

console.log('Ratios within this run, medians of interleaved rounds; ± is half of the 95 % interval.');
const sections: Section[] = [];
for (const [title, bench] of benches) sections.push({ title, findings: await bench() });
report(sections);
