import { type BulkRow, sendBulk } from '../../src/bulk/index.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { type Finding, report } from './report.ts';

/** `npm run bench:bulk`: the memory of a run over a million rows, and how exactly the pace is kept. */

const million = 1_000_000;

async function* rows(count: number): AsyncGenerator<BulkRow> {
  for (let index = 0; index < count; index++) {
    yield { to_phone: `+23480${String(10_000_000 + index)}`, message: `Hello ${index}` };
  }
}

// Sound: nothing reads the reply.
const messenger = { sendMessage: async () => ({}) as never };

/** Heap in MB after each tenth of a million rows. Time jumps, and the store forgets, so that only the run can grow. */
async function heapOverAMillion(): Promise<number[]> {
  let time = 1_700_000_000_000;
  const now = () => time;
  const run = sendBulk({
    messenger,
    rows: rows(million),
    store: memoryStore({ now }),
    campaign: 'bench',
    messagesPerSecond: 1000,
    rememberMs: 1000,
    now,
    sleep: async (ms) => {
      time += ms;
    },
  });
  const heap: number[] = [];
  let done = 0;
  for await (const _ of run) {
    if (++done % (million / 10) !== 0) continue;
    globalThis.gc?.();
    heap.push(process.memoryUsage().heapUsed / 1e6);
  }
  if (run.progress.sent !== million) throw new Error(`Only ${run.progress.sent} were sent.`);
  return heap;
}

/** Messages per second, of so many that were asked for. */
async function paceOf(messagesPerSecond: number): Promise<number> {
  const count = 4 * messagesPerSecond;
  const run = sendBulk({
    messenger,
    rows: rows(count),
    store: memoryStore(),
    campaign: 'pace',
    messagesPerSecond,
  });
  const begun = performance.now();
  for await (const _ of run);
  return ((count - 1) * 1000) / (performance.now() - begun) / messagesPerSecond;
}

const begun = performance.now();
const heap = await heapOverAMillion();
const perRow = ((performance.now() - begun) * 1000) / million;
console.log(`Heap in MB after each tenth: ${heap.map((size) => size.toFixed(1)).join(' ')}`);
const findings: Finding[] = [
  {
    what: 'heap after 1,000,000 rows / after 100,000',
    measured: (heap.at(-1) ?? 0) / (heap[0] ?? 1),
    atMost: 1.5,
  },
  { what: 'time for a row, with claim, message and result', measured: perRow, unit: 'µs' },
];
for (const messagesPerSecond of [5, 50]) {
  const pace = await paceOf(messagesPerSecond);
  findings.push({
    what: `${messagesPerSecond} a second, off by`,
    measured: 1 + Math.abs(1 - pace),
    atMost: 1.05,
  });
}
report([{ title: 'bulk sending', findings }]);
