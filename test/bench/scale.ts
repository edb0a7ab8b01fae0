import { createHash, createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { builtUrl } from './built-entries.ts';
import type { LineChart } from './chart.ts';
import { estimate, median, ratio } from './measure.ts';
import type { Finding, Section } from './report.ts';
import { sampleKey, sampleText, signText } from './sample-event.ts';

const { createWebhooks }: typeof import('../../src/webhooks/index.ts') = await import(builtUrl('./webhooks'));
const { memoryInbox }: typeof import('../../src/inbox/index.ts') = await import(builtUrl('./inbox'));

const rounds = 30;
const { signature: _, ...event } = JSON.parse(sampleText);

/** How a delivery's cost grows with its body: text of the length given, in one member more. */
export async function benchBodySize(): Promise<Omit<Section, 'title'>> {
  const sizes = [923, 10_000, 100_000, 1_000_000];
  const measured = sizes.map((size) => ({ size, bodies: makeBodies(size), ...newTimes() }));
  for (let round = -5; round < rounds; round++) {
    for (const { bodies, own, least } of measured) {
      // The newest 10,000 are remembered, so each of them is new again in new webhooks.
      const webhooks = createWebhooks({ keys: [sampleKey], maxBodyBytes: 2_000_000 }).onAny(() => {});
      const begun = performance.now();
      for (const body of bodies) await webhooks.receive(body);
      await setImmediate();
      const between = performance.now();
      for (const body of bodies) {
        createHmac('sha512', sampleKey).update(body).digest('hex');
        JSON.parse(body.toString());
      }
      const ended = performance.now();
      if (round < 0) continue;
      own.push(((between - begun) * 1000) / bodies.length);
      least.push(((ended - between) * 1000) / bodies.length);
    }
  }
  const chart: LineChart = {
    kind: 'lines',
    name: 'cost-by-size',
    title: 'A delivery, by the size of its body',
    description: 'Microseconds for a whole delivery, handled in memory, grow in proportion to its size.',
    x: 'bytes of the body',
    y: 'µs for each delivery',
    lines: [
      {
        label: 'webhooks.receive',
        own: true,
        points: measured.map(({ size, own }) => [size, median(own)] as const),
      },
      {
        label: 'createHmac and JSON.parse alone',
        points: measured.map(({ size, least }) => [size, median(least)] as const),
      },
    ],
  };
  const findings = measured.map(
    ({ size, own }): Finding => ({
      what: `${size.toLocaleString('en')} bytes`,
      measured: estimate(own),
      unit: 'µs',
    }),
  );
  return { findings, charts: [chart] };
}

/** What the memory of handled deliveries costs, by how many it holds. */
export async function benchRemembered(): Promise<Finding[]> {
  const sizes = [10_000, 100_000, 1_000_000];
  const findings: Finding[] = [];
  let few: readonly number[] | undefined;
  for (const size of sizes) {
    const before = heapUsed();
    const inbox = memoryInbox({ maxRemembered: size });
    let next = 0;
    const receive = async (count: number) => {
      for (let index = 0; index < count; index++) {
        const digest = createHash('sha256').update(String(next++)).digest('hex');
        await inbox.receive(
          { digest, name: 'event.buy.init', key: { index: 0 }, body: '{}' },
          async () => 'handled',
        );
        // As between requests: what waits for the next tick is let go.
        if (index % 100 === 99) await setImmediate();
      }
    };
    await receive(size);
    const bytes = (heapUsed() - before) / size;
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      await receive(2_000);
      times.push((performance.now() - begun) / 2);
    }
    few ??= times;
    findings.push({
      what: `${size.toLocaleString('en')} remembered (${bytes.toFixed(0)} bytes each), each delivery / with 10,000`,
      measured: ratio(times, few),
      atMost: size === sizes[0] ? undefined : 2,
    });
    await inbox.stop();
  }
  return findings;
}

function newTimes(): { readonly own: number[]; readonly least: number[] } {
  return { own: [], least: [] };
}

function makeBodies(size: number): Buffer[] {
  const count = Math.max(3, Math.min(500, Math.floor(2_000_000 / size)));
  return Array.from({ length: count }, (_, index) => {
    const id = `PO-2026-${String(index).padStart(6, '0')}`;
    const plain = { ...event, partner_order_id: id };
    const missing = size - Buffer.byteLength(signText(JSON.stringify(plain), sampleKey));
    const note = missing < 10 ? {} : { note: 'n'.repeat(missing - 10) };
    return Buffer.from(signText(JSON.stringify({ ...plain, ...note }), sampleKey));
  });
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
