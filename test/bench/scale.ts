import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { builtUrl } from './built-entries.ts';
import { estimate, ratio } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleKey, sampleText, signText } from './sample-event.ts';

const { createWebhooks }: typeof import('../../src/webhooks/index.ts') = await import(builtUrl('./webhooks'));
const { memoryInbox }: typeof import('../../src/inbox/index.ts') = await import(builtUrl('./inbox'));

const rounds = 30;
const { signature: _, ...event } = JSON.parse(sampleText);

/** How a delivery's cost grows with its body: text of the length given, in one member more. */
export async function benchBodySize(): Promise<Finding[]> {
  const timings = new Map<number, number[]>();
  const sizes = [923, 10_000, 100_000, 1_000_000];
  const bodies = new Map(sizes.map((size) => [size, makeBodies(size)]));
  for (let round = -5; round < rounds; round++) {
    for (const size of sizes) {
      // The newest 10,000 are remembered, so each of them is new again in new webhooks.
      const webhooks = createWebhooks({ keys: [sampleKey], maxBodyBytes: 2_000_000 }).onAny(() => {});
      const own = bodies.get(size) ?? [];
      const begun = performance.now();
      for (const body of own) await webhooks.receive(body);
      await setImmediate();
      const time = ((performance.now() - begun) * 1000) / own.length;
      if (round >= 0) timings.set(size, [...(timings.get(size) ?? []), time]);
    }
  }
  return sizes.map((size) => ({
    what: `${size.toLocaleString('en')} bytes`,
    measured: estimate(timings.get(size) ?? []),
    unit: 'µs',
  }));
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
          async () => {},
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
