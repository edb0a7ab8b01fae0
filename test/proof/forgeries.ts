/*
 * Forged signatures, each of which has to be refused:
 *
 *     node test/proof/forgeries.ts [random ones] [seed]
 */
import { schemeParts } from '../../src/signature/signature-scheme.ts';
import { forgeAll, forgeSome, noForgeries, total, unverified } from './forgery-rounds.ts';
import { isExtendable } from './length-extension.ts';

const random = Number(process.argv[2] ?? 200_000);
const seed = Number(process.argv[3] ?? 1);
// Every one is refused, and nobody reads the stack.
Error.stackTraceLimit = 0;

const problems = unverified().map((name) => `does not verify as it is: ${name}`);
const result = noForgeries();
let reported = 0;
forgeAll(result, () => {
  if (++reported % 40 > 0) return;
  process.stderr.write(`\r  ${total(result).toLocaleString('en')} forgeries`);
});
forgeSome(result, { count: random, seed, share: 0.2 });
process.stderr.write(`\r  ${total(result).toLocaleString('en')} forgeries\n`);

console.log('Forged under every scheme:');
print(result.tried);
console.log('Refused with:');
print(result.refused);

console.log('A digest can be extended to a longer text without the secret:');
for (const construction of schemeParts.construction) {
  const extendable = isExtendable(construction, 'sk_merchant_1sk_partner_1', '{"partner_order_id":"A-1"}');
  console.log(`  ${construction.padEnd(12)} ${extendable ? 'yes' : 'no'}`);
  if (extendable !== (construction === 'hash-prefix'))
    problems.push(`${construction} is not as it should be`);
}
console.log(
  '  (of hash-prefix too no body can make use: its padding begins with byte 80, which is not UTF-8)',
);

for (const problem of [...problems, ...result.failures]) console.log(problem);
const failed = problems.length + result.failed;
console.log(`${total(result) - result.failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;

function print(counts: Map<string, number>): void {
  for (const [what, count] of counts)
    console.log(`  ${what.padEnd(48)} ${count.toLocaleString('en').padStart(9)}`);
}
