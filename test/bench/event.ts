import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { parseOrderEvent, verifyBody } from './built-entries.ts';
import type { BarChart } from './chart.ts';
import { type Contenders, median, ratio, timeInTurns } from './measure.ts';
import type { Section } from './report.ts';
import { sampleBytes, sampleKey, sampleText, signFirst } from './sample-event.ts';

const buffer = Buffer.from(sampleBytes);
const { signature: _, ...event } = JSON.parse(sampleText);
const signedFirst = new TextEncoder().encode(signFirst(JSON.stringify(event), sampleKey));
const sampling = { rounds: 200, warmup: 100, batch: 128 };

/** Verify, parse and narrow one order event, against the least that anyone has to do and against other packages. */
export function benchEvent(): Omit<Section, 'title'> {
  const narrowed = receive(sampleText);
  if (narrowed.kind !== 'known') throw new Error('The sample event is not a known one.');
  const rivals = rivalsFor(sampleText);
  const timings = timeInTurns<string>(
    {
      baseline: () => hashAndParse(sampleText),
      text: () => receive(sampleText),
      bytes: () => receive(sampleBytes),
      first: () => receive(signedFirst),
      ...contenders(rivals, 'text', sampleText),
      ...contenders(rivals, 'bytes', buffer),
    },
    sampling,
  );
  const against = (ours: 'text' | 'bytes' | 'first', other: string) =>
    ratio(timings[ours] ?? [], timings[other] ?? []);
  const findings = [
    ...(['text', 'bytes'] as const).map((ours) => ({
      what: `${ours} / (createHmac sha512 + JSON.parse of the text)`,
      measured: against(ours, 'baseline'),
      atMost: ours === 'bytes' ? 1.25 : undefined,
    })),
    {
      what: 'bytes with the signature first / (createHmac + JSON.parse)',
      measured: against('first', 'baseline'),
    },
    ...(['text', 'bytes'] as const).flatMap((ours) =>
      rivals.map(({ name }) => ({
        what: `${ours} / ${name} on the same ${ours}`,
        measured: against(ours, `${name} ${ours}`),
        // The design's budget is for bytes: as text, stripe saves itself the decoding too.
        ...(name === 'stripe' && ours === 'bytes' && { atMost: 1.1 }),
      })),
    ),
  ];
  const microseconds = (name: string) => (median(timings[name] ?? []) * 1000) / sampling.batch;
  const chart: BarChart = {
    kind: 'bars',
    name: 'cost-of-an-event',
    title: 'One event of 923 bytes, given as bytes',
    description: 'Microseconds to verify and parse one event, with this package and with others.',
    unit: 'µs (less is better)',
    bars: [
      { label: 'createHmac and JSON.parse alone', value: microseconds('baseline') },
      { label: 'verify, parse and narrow', value: microseconds('bytes'), own: true },
      ...rivals.map(({ name }) => ({
        label: `${name}: verify and parse`,
        value: microseconds(`${name} bytes`),
      })),
    ],
  };
  return { findings, charts: [chart] };
}

/** As the webhooks do, which give the text too. */
function receive(body: string | Uint8Array) {
  const { value, json } = verifyBody(body, { key: sampleKey });
  return parseOrderEvent(value, { text: json });
}

function hashAndParse(text: string): unknown {
  return [createHmac('sha512', sampleKey).update(text).digest('hex'), JSON.parse(text)];
}

function contenders(rivals: readonly Rival[], form: string, payload: string | Buffer): Contenders<string> {
  return Object.fromEntries(rivals.map(({ name, receive }) => [`${name} ${form}`, () => receive(payload)]));
}

/** What another package does with a signed delivery: checks it and parses it. It narrows nothing. */
interface Rival {
  readonly name: string;
  readonly receive: (payload: string | Buffer) => unknown;
}

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const id = 'msg_bench';

/** Signs the payload for each of them with its own header, now: they refuse what is older than five minutes. */
function rivalsFor(payload: string): Rival[] {
  const now = new Date();
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const { webhooks } = new Stripe('sk_test_bench');
  const stripeHeader = webhooks.generateTestHeaderString({ payload, secret });
  const svix = new SvixWebhook(secret);
  const svixHeaders = {
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': svix.sign(id, now, payload),
  };
  const standard = new StandardWebhook(secret);
  const standardHeaders = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.sign(id, now, payload),
  };
  return [
    { name: 'stripe', receive: (body) => webhooks.constructEvent(body, stripeHeader, secret) },
    {
      name: 'svix',
      receive: (body) => {
        svix.verify(body, svixHeaders);
        // Its verify returns nothing and leaves the parsing to the caller.
        return JSON.parse(body.toString());
      },
    },
    { name: 'standardwebhooks', receive: (body) => standard.verify(body, standardHeaders) },
  ];
}
