/*
 * Differential fuzzing of all that reads a body, against JSON.parse and a second reader:
 *
 *     node test/proof/fuzz.ts [--rounds 1000000 | --minutes 2] [--seed 7]
 */
import { searchSize } from '../support/search-size.ts';
import { fuzz } from './fuzz-rounds.ts';

const size = searchSize({ rounds: 1_000_000 });
/** Each batch has the next seed. */
const batch = 5_000;
// Most texts are refused, and nobody reads the stack.
Error.stackTraceLimit = 0;

console.log(`Fuzzing from seed ${size.seed}, ${batch} texts of each: what they have to be refused with`);
const codes = new Map<string, number>();
let [done, failed, misread] = [0, 0, 0];
for (let seed = size.seed; !size.isOver(done); seed++) {
  const rounds = size.ms === undefined ? Math.min(batch, size.rounds - done) : batch;
  const found = fuzz(rounds, seed);
  done += rounds;
  failed += found.failed;
  misread += found.misread;
  for (const [code, count] of Object.entries(found.codes)) codes.set(code, (codes.get(code) ?? 0) + count);
  for (const failure of found.failures) console.log(failure);
}
for (const [code, count] of [...codes].sort(([, one], [, other]) => other - one))
  console.log(`  ${code.padEnd(22)} ${count.toLocaleString('en').padStart(9)}`);
if (misread > 0) console.log(`${misread} left out: JSON.parse misread a name itself (nodejs/node#63785)`);
console.log(`${done - failed - misread} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
