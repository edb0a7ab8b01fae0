/*
 * Differential fuzzing of all that reads a body, against JSON.parse and a second reader:
 *
 *     node test/proof/fuzz.ts [texts] [seed]
 */
import { fuzz } from './fuzz-rounds.ts';

const texts = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? 1);
// Most texts are refused, and nobody reads the stack.
Error.stackTraceLimit = 0;

const { passed, failed, misread, failures, codes } = fuzz(texts, seed, (done) => {
  process.stderr.write(`\r  ${done.toLocaleString('en')} texts`);
});
process.stderr.write('\n');
console.log(`Fuzzing, seed ${seed}: what the texts have to be refused with`);
for (const [code, count] of Object.entries(codes).sort(([, one], [, other]) => other - one)) {
  console.log(`  ${code.padEnd(22)} ${count.toLocaleString('en').padStart(9)}`);
}
if (misread > 0) console.log(`${misread} left out: JSON.parse misread a name itself (nodejs/node#63785)`);
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
