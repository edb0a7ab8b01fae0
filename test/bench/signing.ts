import { createHmac } from 'node:crypto';
import type { JsonObject } from '../../src/internal/json.ts';
import { signBody } from './built-entries.ts';
import { ratio, timeInTurns } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleKey, sampleText } from './sample-event.ts';

const { signature: _, ...event } = JSON.parse(sampleText);

const bodies: Readonly<Record<string, JsonObject>> = {
  'an order': {
    partner_order_id: 'PO-2025-000123',
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: 'https://partner.example/webhooks/orders',
    buyer_phone: '+2348012345678',
    buyer_email: 'ada.o@example.com',
    first_name: 'Ada',
    last_name: 'Obikwe',
    markup_fee: '1.5',
  },
  'a message': {
    to_phone: '+2348012345678',
    message: 'Your code is 482913. It is valid for 10 minutes.',
    verify_check: true,
  },
  'an event': event,
};

const sampling = { rounds: 200, warmup: 100, batch: 128 };

/**
 * Sign a body, against what anybody would write by hand: write it, sign that text, and write it with its signature.
 * The engine joins the pieces of a text when it is sent, so the bytes are shown as well.
 */
export function benchSigning(): Finding[] {
  return Object.entries(bodies).flatMap(([name, body]) => {
    if (sign(body) !== signByHand(body)) throw new Error(`${name} is signed in two ways.`);
    const timings = timeInTurns(
      {
        text: () => sign(body),
        'text by hand': () => signByHand(body),
        bytes: () => Buffer.from(sign(body)),
        'bytes by hand': () => Buffer.from(signByHand(body)),
      },
      sampling,
    );
    return [
      {
        what: name,
        measured: ratio(timings.text, timings['text by hand']),
        atMost: 1,
      },
      { what: '  as the bytes to post', measured: ratio(timings.bytes, timings['bytes by hand']) },
    ];
  });
}

function sign(body: JsonObject): string {
  return signBody(body, { key: sampleKey }).text;
}

function signByHand(body: JsonObject): string {
  const signature = createHmac('sha512', sampleKey).update(JSON.stringify(body)).digest('hex');
  return JSON.stringify({ ...body, signature });
}
