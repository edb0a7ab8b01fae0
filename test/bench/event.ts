import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { parseOrderEvent, verifyBody } from './built-entries.ts';
import { ratio, timeInTurns } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleBytes, sampleKey, sampleText, signFirst } from './sample-event.ts';

const buffer = Buffer.from(sampleBytes);
const { signature: _, ...event } = JSON.parse(sampleText);
const signedFirst = new TextEncoder().encode(signFirst(JSON.stringify(event), sampleKey));
const sampling = { rounds: 200, warmup: 100, batch: 128 };

/** Verify, parse and narrow one order event, against the least that anyone has to do and against stripe. */
export function benchEvent(): Finding[] {
  const narrowed = receive(sampleText);
  if (narrowed.kind !== 'known') throw new Error('The sample event is not a known one.');
  const stripe = stripeReceiver(sampleText);
  const timings = timeInTurns(
    {
      baseline: () => hashAndParse(sampleText),
      text: () => receive(sampleText),
      bytes: () => receive(sampleBytes),
      first: () => receive(signedFirst),
      'stripe text': () => stripe(sampleText),
      'stripe bytes': () => stripe(buffer),
    },
    sampling,
  );
  const { baseline, text, bytes, first } = timings;
  return [
    { what: 'text / (createHmac sha512 + JSON.parse of the text)', measured: ratio(text, baseline) },
    {
      what: 'bytes / (createHmac sha512 + JSON.parse of the text)',
      measured: ratio(bytes, baseline),
      atMost: 1.25,
    },
    {
      what: 'bytes with the signature first / (createHmac + JSON.parse)',
      measured: ratio(first, baseline),
    },
    { what: 'text / stripe on the same text', measured: ratio(text, timings['stripe text']) },
    // The budget is for bytes: as text, stripe saves itself the decoding too.
    {
      what: 'bytes / stripe on the same bytes',
      measured: ratio(bytes, timings['stripe bytes']),
      atMost: 1.1,
    },
  ];
}

/** As the webhooks do, which give the text too. */
function receive(body: string | Uint8Array) {
  const { value, json } = verifyBody(body, { key: sampleKey });
  return parseOrderEvent(value, { text: json });
}

function hashAndParse(text: string): unknown {
  return [createHmac('sha512', sampleKey).update(text).digest('hex'), JSON.parse(text)];
}

/** What stripe does with a signed delivery: checks it and parses it. It narrows nothing. */
function stripeReceiver(payload: string): (body: string | Buffer) => unknown {
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  const { webhooks } = new Stripe('sk_test_bench');
  // Signed now: it refuses what is older than five minutes.
  const header = webhooks.generateTestHeaderString({ payload, secret });
  return (body) => webhooks.constructEvent(body, header, secret);
}
