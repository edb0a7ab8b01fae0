import { format, inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { ReceiveOutcome } from '../../src/webhooks/receive-outcome.ts';
import { buyInitBody, hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { credentials, delivery, gate, quietWebhooks, unsignedText } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

const body = buyInitBody({ note: 'a note in the body' });
const text = unsignedText(body);

/** What nobody but the handler and the configuration may see. */
const secrets = {
  'the partner secret': 'sk_partner_test1',
  'the merchant secret': 'sk_merchant_test1',
  'the key of events': orderKey,
  'the expected signature': hmacHex(text),
  'the expected signature in base64': Buffer.from(hmacHex(text), 'hex').toString('base64'),
  "the buyer's address": 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  "the buyer's name": 'Ada',
  'the order': 'A-1001',
  'a note in the body': 'a note in the body',
};

function expectNoSecret(shown: unknown): void {
  const all = typeof shown === 'string' ? shown : inspectAll(shown);
  for (const [what, secret] of Object.entries(secrets)) {
    expect(all.includes(secret), `${what} is in ${all.slice(0, 2000)}`).toBe(false);
  }
}

function inspectAll(value: unknown): string {
  const whole = { depth: null, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null };
  return `${inspect(value, whole)} ${JSON.stringify(value)} ${String(value)}`;
}

const forgedSignature = '0123456789abcdef'.repeat(8);

/** Bodies that are refused, each with the whole event in it. */
const refused: [string, string | Uint8Array][] = [
  ['a wrong signature', signedText(text, forgedSignature)],
  ['a signature of another key', delivery(body, 'sk_merchant_other')],
  ['no signature', text],
  ['two signatures', signedText(signedText(text, forgedSignature), forgedSignature)],
  ['its end cut off', text.slice(0, -1)],
  ['a stray byte', Buffer.concat([Buffer.from(text), Uint8Array.of(0xff)])],
  ['too much of it', signedText(`${text.slice(0, -1)},"filler":"${'x'.repeat(300_000)}"}`, forgedSignature)],
];

describe('nothing secret is in the outcome', () => {
  it.each(refused)('of a body with %s', async (_, sent) => {
    const outcome = await quietWebhooks().receive(sent);
    expect(outcome.kind).toBe('refused');
    expectNoSecret(outcome);
    expect(inspectAll(outcome)).not.toContain(forgedSignature);
  });

  it('of an authentic delivery, whatever became of it', async () => {
    const begun = gate();
    const finish = gate();
    let calls = 0;
    const webhooks = quietWebhooks();
    const outcomes: ReceiveOutcome[] = [await webhooks.receive(delivery(body))];
    webhooks.onAny(async () => {
      begun.open();
      await finish.opened;
      if (calls++ === 0) throw new Error('no');
    });
    const first = webhooks.receive(delivery(body));
    await begun.opened;
    outcomes.push(await webhooks.receive(delivery(body)));
    finish.open();
    outcomes.push(await first);
    for (let time = 0; time < 2; time++) outcomes.push(await webhooks.receive(delivery(body)));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds).toEqual(['ignored', 'busy', 'failed', 'handled', 'duplicate']);
    expectNoSecret(outcomes);
  });
});

describe('nothing secret is', () => {
  it('in the warnings', async () => {
    const webhooks = quietWebhooks({
      onError: () => {
        throw new Error(text);
      },
    });
    webhooks.onAny(() => {
      throw new Error(text);
    });
    const warnings = await warningsDuring(async () => {
      await webhooks.receive(delivery({ ...body, event_name: 'event.sell.init' }));
      await webhooks.receive(delivery({ ...body, pair: 5 }));
      await webhooks.receive(delivery(body));
      const request = new Request('https://x.example', {
        method: 'POST',
        body: delivery(body),
        headers: { 'content-type': 'application/json' },
      });
      await request.text();
      await webhooks.fetch(request);
    });
    expect(warnings).toHaveLength(4);
    expectNoSecret(warnings);
  });

  it('in the webhooks themselves when they are printed', () => {
    const webhooks = quietWebhooks({ credentials }).onAny(() => {});
    expectNoSecret(webhooks);
    expectNoSecret(inspectAll({ ...webhooks }));
  });

  it('in what the default onError prints beside the error', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => logged.mockRestore());
    const webhooks = createWebhooks({ credentials })
      .on('event.buy.init', () => Promise.reject(new Error('the database is down')))
      .onUnrecognized(() => Promise.reject(new Error('nobody knows it')));
    await webhooks.receive(delivery(body));
    await webhooks.receive(delivery({ event_name: 'line\nbreak', partner_order_id: 'A-1001' }));
    const printed = logged.mock.calls.map((values) => format(...values)).join('\n');
    expect(printed).toMatch(
      /not handled \("event\.buy\.init", digest [0-9a-f]{12}\): Error: the database is down/,
    );
    expect(printed).toMatch(/the database is down\n +at /);
    expect(printed).toMatch(/not handled \("line\\nbreak", digest [0-9a-f]{12}\): Error: nobody knows it/);
    expectNoSecret(printed);
  });
});
