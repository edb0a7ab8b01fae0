import { createHmac, timingSafeEqual } from 'node:crypto';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { createWebhooks } from './built-entries.ts';
import type { LineChart } from './chart.ts';
import { measureInTurns, median, ratio } from './measure.ts';
import type { Finding, Section } from './report.ts';
import { sampleText, signText } from './sample-event.ts';

const partnerSecretKey = 'sk_partner_bench_0123456789abcdef';
const sampling = { rounds: 50, warmup: 10 };
const batch = 64;
const partners = 10_000;

/** Keys that a list holds, and partners among whom a function finds the keys. */
const counts = [1, 4, 16, 64];
const directories = [1, 100, partners];

/** The cost of a delivery with a list of keys, and with a function that finds one of 10,000 partners by the callback path. */
export async function benchKeyRing(): Promise<Omit<Section, 'title'>> {
  const forgery = eventOf(99_999);
  const contenders: Record<string, () => Promise<number>> = {
    first: work(listOf(64), eventOf(0)),
    ...Object.fromEntries(
      counts.flatMap((count) => [
        [`authentic ${count}`, work(listOf(count), eventOf(count - 1))],
        [`forged ${count}`, work(listOf(count), forgery)],
        [`bare ${count}`, work(async (body) => bareTries(body, count), forgery)],
      ]),
    ),
    ...Object.fromEntries(
      directories.map((count) => {
        const receive = createReceiver({ credentials: findIn(count) });
        return [
          `found ${count}`,
          work((body) => receive(body, { url: `/orders/P-${count - 1}` }), eventOf(count - 1)),
        ];
      }),
    ),
    'forged found': work(forgedFor(createReceiver({ credentials: findIn(partners) })), eventOf(0)),
  };
  const timings = await measureInTurns(contenders, sampling);
  const timesOf = (name: string) => timings[name] ?? [];
  const compared = (of: string, against: string) => ratio(timesOf(of), timesOf(against));
  const points = (name: string, at: readonly number[]) =>
    at.map((count) => [count, (median(timesOf(`${name} ${count}`)) * 1000) / batch] as const);
  const chart: LineChart = {
    kind: 'lines',
    name: 'cost-by-keys',
    title: 'A delivery, by the number of keys that it is tried with',
    description: 'With a list the cost grows with the keys; with a function that finds them it does not.',
    x: 'keys in the list, or partners behind the function',
    y: 'µs for each delivery',
    lines: [
      { label: 'list, signed with the last', own: true, points: points('authentic', counts) },
      { label: 'list, forged', own: true, points: points('forged', counts) },
      { label: 'credentials as a function', own: true, points: points('found', directories) },
      { label: 'createHmac and comparison alone', points: points('bare', counts) },
    ],
  };
  const findings: Finding[] = [
    {
      what: '64 keys, the last matches / the first matches',
      measured: compared('authentic 64', 'first'),
      atMost: 1.1,
    },
    { what: '64 keys, forged / the first matches', measured: compared('forged 64', 'first'), atMost: 1.1 },
    {
      what: '64 keys, forged / 64 x (createHmac + timingSafeEqual)',
      measured: compared('forged 64', 'bare 64'),
      atMost: 1.5,
    },
    {
      what: `function, ${partners} partners, authentic / one key`,
      measured: compared(`found ${partners}`, 'authentic 1'),
      atMost: 2.5,
    },
    {
      what: `function, ${partners} partners, forged / authentic`,
      measured: compared('forged found', `found ${partners}`),
      atMost: 1.5,
    },
  ];
  return { findings, charts: [chart] };
}

const forgedFor =
  (receive: Receive): ((body: string) => Promise<unknown>) =>
  (body) =>
    receive(body, { url: `/orders/P-${partners - 1}` });

type Receive = ReturnType<typeof createWebhooks>['receive'];

const merchantKey = (index: number) => `sk_merchant_bench_${String(index).padStart(16, '0')}`;
const keyOf = (index: number) => merchantKey(index) + partnerSecretKey;

/** Credentials as a function over so many partners. */
function findIn(
  count: number,
): (request: { readonly url?: string | undefined }) => PartnerCredentials | undefined {
  const directory = new Map(
    Array.from({ length: count }, (_, index) => [
      `P-${index}`,
      {
        partnerPublicKey: 'pk_partner_bench',
        partnerSecretKey,
        merchantSecretKey: merchantKey(index),
        partnerId: `P-${index}`,
      },
    ]),
  );
  return ({ url = '' }) => directory.get(url.slice('/orders/'.length));
}

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

function work(receive: (body: string) => Promise<unknown>, body: string): () => Promise<number> {
  return async () => {
    const begun = performance.now();
    for (let call = 0; call < batch; call++) await receive(body);
    return performance.now() - begun;
  };
}

/** The least that so many tries can cost. */
function bareTries(body: string, count: number): boolean {
  const text = body.slice(0, body.indexOf(',"signature"'));
  const claim = Buffer.alloc(64);
  const tried = Array.from({ length: count }, (_, index) =>
    timingSafeEqual(createHmac('sha512', keyOf(index)).update(text).digest(), claim),
  );
  return tried.includes(true);
}
