/** How long a search takes and what it leaves on the heap: `node --expose-gc test/devtools/diagnostics/search-time.ts` */
import { explainMismatch } from '../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { allSchemes, secrets, signedUnder } from './support.ts';

const rounds = 15;
const scheme = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const other = { ...scheme, construction: 'hash-prefix' } as const;
const text = (bytes: number) => `{"amount":10.0,"note":"${'x'.repeat(bytes - 170)}"}`;

console.log(`${[...allSchemes()].length} schemes`);
for (const [name, bytes, kept] of [
  ['1 KiB, found', 1024, true],
  ['1 KiB, not found, with every near miss tried', 1024, false],
  ['64 KiB, not found, with every near miss tried', 65_500, false],
] as const) {
  const signed = signedUnder(scheme, { text: text(bytes) });
  measure(name, kept ? signed : signed.replace('10.0', '11.0'));
}

function measure(name: string, body: string): void {
  const times: number[] = [];
  explainMismatch(body, { credentials: secrets, scheme: other });
  globalThis.gc?.();
  const before = process.memoryUsage();
  let peak = before.rss;
  for (let round = 0; round < (body.length > 10_000 ? 2 : rounds); round++) {
    const start = process.cpuUsage();
    explainMismatch(body, { credentials: secrets, scheme: other });
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  globalThis.gc?.();
  const heap = (process.memoryUsage().heapUsed - before.heapUsed) / 1e6;
  console.log(
    `${name}: ${Math.min(...times).toFixed(0)} ms of one core (best of ${times.length}), heap ${heap.toFixed(2)} MB more after, resident ${((peak - before.rss) / 1e6).toFixed(1)} MB more at its peak`,
  );
}
