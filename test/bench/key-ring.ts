import { createHmac, timingSafeEqual } from 'node:crypto';
import { createWebhooks } from './built-entries.ts';
import { estimate, ratio } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleText, signText } from './sample-event.ts';

const sizes = [1, 10, 100, 1_000, 10_000];
const partnerSecretKey = 'sk_partner_bench_0123456789abcdef';
const rounds = 50;
const warmup = 10;
/** Deliveries of so many merchants, spread over the ring, take turns. */
const merchants = 64;

/** What a delivery costs by the number of merchants: one that is authentic, and a forged one. */
export async function benchKeyRing(): Promise<Finding[]> {
  return [...(await benchAuthentic()), ...(await benchForged())];
}

async function benchAuthentic(): Promise<Finding[]> {
  const timings = await timeInTurns([
    ...sizes.map((size) => work(named(size), authentic(size), 128)),
    work(await taught(10_000), unnamedEvents(10_000), 128),
  ]);
  const [one = [], ...others] = timings;
  const [learned = [], ...byName] = others.toReversed();
  return [
    ...byName.toReversed().map((times, index) => ({
      what: `authentic, ${sizes[index + 1]} keys / one key`,
      measured: ratio(times, one),
      atMost: 1.3,
    })),
    { what: 'authentic, 10000 keys, learned / one key', measured: ratio(learned, one), atMost: 1.3 },
  ];
}

async function benchForged(): Promise<Finding[]> {
  const searched = sizes.slice(2);
  const timings = await timeInTurns(
    searched.flatMap((size) => {
      const bodies = forged(size);
      const keys = keysOf(size);
      const batch = 10_000 / size;
      return [work(named(size), bodies, batch), work(async (body) => bareSearch(body, keys), bodies, batch)];
    }),
  );
  const [one = [], limited = []] = await timeInTurns([
    work(named(1), forged(1), 128),
    work(named(10_000, 1), forged(10_000), 128),
  ]);
  return [
    ...searched.flatMap((size, index) => {
      const [ours = [], bare = []] = timings.slice(2 * index);
      return [
        {
          what: `forged, searched among ${size} keys: each key`,
          // 10,000 keys were tried in each round, and 1,000 microseconds are a millisecond.
          measured: estimate(ours.map((time) => time / 10)),
          unit: 'µs' as const,
          atMost: 5,
        },
        { what: '  against createHmac + timingSafeEqual', measured: ratio(ours, bare), atMost: 1.5 },
      ];
    }),
    { what: 'forged, 10000 keys, past the budget / one key', measured: ratio(limited, one), atMost: 4 },
  ];
}

type Receive = (body: string) => Promise<unknown>;

/** A receiver for one partner whose merchants are named after their currencies. */
function named(size: number, keysPerSecond = Number.MAX_SAFE_INTEGER): Receive {
  return receiver({
    credentials: {
      partnerPublicKey: 'pk_partner_bench',
      partnerSecretKey,
      merchantSecretKeys: Object.fromEntries(merchantKeys(size).map((key, place) => [`F${place}`, key])),
    },
    keySearch: { keysPerSecond },
  });
}

/** A receiver whose configuration names nobody, once it has had a delivery of everyone. */
async function taught(size: number): Promise<Receive> {
  const receive = receiver({ keys: keysOf(size), keySearch: { keysPerSecond: Number.MAX_SAFE_INTEGER } });
  for (const body of unnamedEvents(size)) await receive(body);
  return receive;
}

function receiver(options: Parameters<typeof createWebhooks>[0]): Receive {
  const inbox = { receive: async () => 'stored' as const };
  return createWebhooks({ ...options, inbox }).onAny(() => {}).receive;
}

const merchantKeys = (size: number) =>
  Array.from({ length: size }, (_, place) => `sk_merchant_bench_${String(place).padStart(16, '0')}`);
const keysOf = (size: number) => merchantKeys(size).map((key) => key + partnerSecretKey);

function events(size: number, members: (place: number) => object, key: (place: number) => string): string[] {
  const { signature: _, ...event } = JSON.parse(sampleText);
  return Array.from({ length: merchants }, (_, turn) => {
    const place = Math.floor(((turn + 1) * size - 1) / merchants) % size;
    return signText(JSON.stringify({ ...event, ...members(place) }), key(place));
  });
}

const keyOf = (place: number) => keysOf(place + 1)[place] ?? '';
const authentic = (size: number) => events(size, (place) => ({ fiat_currency: `F${place}` }), keyOf);
const forged = (size: number) =>
  events(
    size,
    (place) => ({ fiat_currency: `F${place}` }),
    () => 'nobody',
  );
const unnamedEvents = (size: number) =>
  events(size, (place) => ({ partner_callback_url: `https://partner.example/webhooks/${place}` }), keyOf);

function work(receive: Receive, bodies: readonly string[], batch: number): () => Promise<void> {
  let turn = 0;
  return async () => {
    for (let call = 0; call < batch; call++) await receive(bodies[turn++ % bodies.length] ?? '');
  };
}

/** The least that a search among these keys can be. */
function bareSearch(body: string, keys: readonly string[]): boolean {
  const text = body.slice(0, body.indexOf(',"signature"'));
  const claim = Buffer.alloc(64);
  return keys.some((key) => timingSafeEqual(createHmac('sha512', key).update(text).digest(), claim));
}

/** As `timeInTurns` of the other benchmarks, for work that has to be awaited. */
async function timeInTurns(works: readonly (() => unknown)[]): Promise<number[][]> {
  const timings: number[][] = works.map(() => []);
  for (let round = 0; round < warmup + rounds; round++) {
    for (let turn = 0; turn < works.length; turn++) {
      const which = (round + turn) % works.length;
      const start = performance.now();
      await works[which]?.();
      if (round >= warmup) timings[which]?.push(performance.now() - start);
    }
  }
  return timings;
}
