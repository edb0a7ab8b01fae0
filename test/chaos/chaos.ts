import { parseArgs } from 'node:util';
import { type Figures, runScenario } from './run-scenario.ts';

/** `npm run chaos [-- --scenarios 1000 --seed 7]`; `--only 413` plays one of them again. */

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now()) },
    only: { type: 'string' },
  },
});
const { seed } = values;
const scenarios = wholeNumber('scenarios', values.scenarios);
const numbers =
  values.only === undefined
    ? Array.from({ length: scenarios }, (_, index) => index)
    : [wholeNumber('only', values.only)];

console.log(`seed ${seed}`);
const sums: Partial<Record<keyof Figures, number>> = {};
const failed: number[] = [];
const begun = performance.now();
for (const number of numbers) {
  const { breaches, trace, figures, plan } = await runScenario(`${seed}/${number}`);
  // Sound: these are the keys of the type.
  for (const name of Object.keys(figures) as (keyof Figures)[])
    sums[name] = (sums[name] ?? 0) + figures[name];
  if (breaches.length === 0) continue;
  failed.push(number);
  console.log(trace);
  console.log(plan);
  console.log(breaches.map((breach) => `- ${breach}`).join('\n'));
  console.log(
    `Scenario ${number} of seed ${seed} failed: npm run chaos -- --seed ${seed} --only ${number}\n`,
  );
}
console.log({
  scenarios: numbers.length,
  failed: failed.length,
  seconds: Math.round((performance.now() - begun) / 1000),
  ...sums,
});
if (failed.length > 0) {
  console.log(`Failed with seed ${seed}: ${failed.join(', ')}`);
  process.exitCode = 1;
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number.`);
}
