/*
 * Forged signatures, each of which has to be refused:
 *
 *     node test/proof/forgeries.ts [--rounds 200000 | --minutes 2] [--seed 7]
 *
 * All structured ones, and so many at random; in a time, as many of both as there is time for.
 */
import { searchSize } from '../support/search-size.ts';
import { forgeAll, forgeSome, noForgeries, total, unverified } from './forgery-rounds.ts';

const size = searchSize({ rounds: 200_000 });
/** Each batch has the next seed. */
const batch = 5_000;
// Every one is refused, and nobody reads the stack.
Error.stackTraceLimit = 0;

const problems = unverified().map((name) => `does not verify as it is: ${name}`);
const result = noForgeries();
// At random first where the time is short: those are others in each run.
if (size.ms === undefined) forgeAll(result);
for (let done = 0; !size.isOver(done); done += batch)
  forgeSome(result, {
    count: batch,
    seed: size.seed + done / batch,
    share: size.ms === undefined ? 0.2 : 0.8,
  });

console.log(`Forged under every scheme, from seed ${size.seed}:`);
print(result.tried);
console.log('Refused with:');
print(result.refused);

for (const problem of [...problems, ...result.failures]) console.log(problem);
const failed = problems.length + result.failed;
console.log(`${total(result) - result.failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;

function print(counts: Map<string, number>): void {
  for (const [what, count] of counts)
    console.log(`  ${what.padEnd(48)} ${count.toLocaleString('en').padStart(9)}`);
}
