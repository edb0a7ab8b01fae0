import { createHmac, timingSafeEqual } from 'node:crypto';
import { createWebhooks } from './built-entries.ts';
import { ratio } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleText, signText } from './sample-event.ts';

const partnerSecretKey = 'sk_partner_bench_0123456789abcdef';
const rounds = 50;
const warmup = 10;
const batch = 64;
const partners = 10_000;

/** The cost of a delivery with 64 keys, and with a function that finds one of 10,000 partners by the callback path. */
export async function benchKeyRing(): Promise<Finding[]> {
  const ofMany = createReceiver({
    credentials: ({ url = '' }) => directory.get(url.slice('/orders/'.length)),
  });
  const [one = [], first = [], last = [], forged = [], bare = [], found = [], forgedFound = []] =
    await timeInTurns([
      work(listOf(1), eventOf(0)),
      work(listOf(64), eventOf(0)),
      work(listOf(64), eventOf(63)),
      work(listOf(64), eventOf(99)),
      work(async (body) => bareTries(body), eventOf(99)),
      work((body) => ofMany(body, { url: '/orders/P-9999' }), eventOf(9_999)),
      work((body) => ofMany(body, { url: '/orders/P-9999' }), eventOf(0)),
    ]);
  return [
    { what: '64 keys, the last matches / the first matches', measured: ratio(last, first), atMost: 1.1 },
    { what: '64 keys, forged / the first matches', measured: ratio(forged, first), atMost: 1.1 },
    {
      what: '64 keys, forged / 64 x (createHmac + timingSafeEqual)',
      measured: ratio(forged, bare),
      atMost: 1.5,
    },
    { what: `function, ${partners} partners, authentic / one key`, measured: ratio(found, one), atMost: 2.5 },
    {
      what: `function, ${partners} partners, forged / authentic`,
      measured: ratio(forgedFound, found),
      atMost: 1.5,
    },
  ];
}

type Receive = ReturnType<typeof createWebhooks>['receive'];

const merchantKey = (index: number) => `sk_merchant_bench_${String(index).padStart(16, '0')}`;
const keyOf = (index: number) => merchantKey(index) + partnerSecretKey;

const directory = new Map(
  Array.from({ length: partners }, (_, index) => [
    `P-${index}`,
    {
      partnerPublicKey: 'pk_partner_bench',
      partnerSecretKey,
      merchantSecretKey: merchantKey(index),
      partnerId: `P-${index}`,
    },
  ]),
);

/** A receiver for so many merchants of one partner. */
function listOf(count: number): Receive {
  const merchantSecretKeys = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`F${index}`, merchantKey(index)]),
  );
  return createReceiver({
    credentials: { partnerPublicKey: 'pk_partner_bench', partnerSecretKey, merchantSecretKeys },
  });
}

function createReceiver(options: Parameters<typeof createWebhooks>[0]): Receive {
  const inbox = { receive: async () => 'stored' as const };
  return createWebhooks({ ...options, inbox }).onAny(() => {}).receive;
}

function eventOf(index: number): string {
  const { signature: _, ...event } = JSON.parse(sampleText);
  return signText(JSON.stringify(event), keyOf(index));
}

function work(receive: (body: string) => Promise<unknown>, body: string): () => Promise<void> {
  return async () => {
    for (let call = 0; call < batch; call++) await receive(body);
  };
}

/** The least that 64 tries can cost. */
function bareTries(body: string): boolean {
  const text = body.slice(0, body.indexOf(',"signature"'));
  const claim = Buffer.alloc(64);
  const tried = Array.from({ length: 64 }, (_, index) =>
    timingSafeEqual(createHmac('sha512', keyOf(index)).update(text).digest(), claim),
  );
  return tried.includes(true);
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
