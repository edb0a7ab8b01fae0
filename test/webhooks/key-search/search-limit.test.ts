import { describe, expect, it } from 'vitest';
import { lambdaHandler } from '../../../src/webhooks/http/lambda-handler.ts';
import { describeTransports } from '../http/transports.ts';
import { warningsDuring } from '../warnings.ts';
import { eventOf, exhaust, forged, merchants, namelessKeys, searchingWebhooks } from './rings.ts';

const json = { 'content-type': 'application/json' };
/** Its key is the last one that is tried. */
const unknown = eventOf(19, { fiat_currency: 'none', pair: 'no/ne' });

async function exhausted() {
  const receiver = searchingWebhooks(100, { credentials: merchants(20) });
  await exhaust(receiver, forged({ fiat_currency: 'none', pair: 'no/ne' }));
  return receiver;
}

describeTransports('past the budget for searches', (post) => {
  it('a delivery whose key is not found at once is answered 503 with Retry-After, and handled when it comes again', async () => {
    const { webhooks, clock, handled } = await exhausted();
    const answer = await post(webhooks, { body: unknown });
    expect(answer).toMatchObject({ status: 503, body: '{"error":"unavailable"}' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(10);
    expect(handled).toEqual([]);
    clock.ms += Number(answer.headers['retry-after']) * 1000;
    expect(await post(webhooks, { body: unknown })).toMatchObject({ status: 200 });
    expect(handled).toEqual(['A-1001 by F19']);
  });

  it('one that names its merchant is handled', async () => {
    const { webhooks } = await exhausted();
    expect(await post(webhooks, { body: eventOf(12) })).toMatchObject({ status: 200 });
  });
});

describe('past the budget for searches', () => {
  it('webhooks.answer and the handler for Lambda say the same', async () => {
    const { webhooks } = await exhausted();
    const expected = { 'retry-after': expect.stringMatching(/^\d+$/) };
    expect(await webhooks.answer({ method: 'POST', headers: json, body: unknown })).toMatchObject({
      status: 503,
      headers: expected,
    });
    const answer = await lambdaHandler(webhooks)({
      requestContext: { http: { method: 'POST' } },
      headers: json,
      body: unknown,
      isBase64Encoded: false,
    });
    expect(answer).toMatchObject({ statusCode: 503, headers: expected });
  });

  it('the outcome and onDelivery say why, one warning does, and onRefused is not called: it may be authentic', async () => {
    const refused: unknown[] = [];
    const receiver = searchingWebhooks(100, {
      credentials: merchants(20),
      onRefused: (body) => refused.push(body),
    });
    const warnings = await warningsDuring(async () => {
      await exhaust(receiver, forged());
      await exhaust(receiver, forged());
    });
    const limited = warnings.filter(({ message }) => message.includes('key_search_limited'));
    expect(limited).toHaveLength(1);
    expect(limited[0]?.message).toContain('keySearch.keysPerSecond');
    const searches = receiver.reports.filter(({ outcome }) => outcome === 'refused').length;
    expect(refused).toHaveLength(searches);
    expect(receiver.reports.at(-1)).toMatchObject({
      stage: 'receive',
      outcome: 'unverified',
      status: 503,
      code: 'key_search_limited',
      name: undefined,
      digest: undefined,
    });
    expect(await receiver.webhooks.receive(forged())).toMatchObject({
      kind: 'unverified',
      error: { name: 'KeyError', code: 'key_search_limited' },
    });
  });

  it('a malformed body is refused as ever', async () => {
    const { webhooks } = await exhausted();
    expect(await webhooks.receive('{"signature":"00"}')).toMatchObject({ code: 'signature_malformed' });
  });

  it('four keys are tried all the same, so a receiver with so few is never limited', async () => {
    const { webhooks } = searchingWebhooks(1, { keys: namelessKeys(4) });
    for (let index = 0; index < 100; index++) {
      expect(await webhooks.receive(forged())).toMatchObject({ code: 'signature_mismatch' });
    }
  });
});

describe('among a flood of forged deliveries, with 1,000 keys', () => {
  it('those that name their merchant are all handled', async () => {
    const { webhooks, clock, handled } = searchingWebhooks(50_000, { credentials: merchants(1_000) });
    for (let second = 0; second < 5; second++) {
      for (let index = 0; index < 200; index++) {
        clock.ms += 5;
        await webhooks.receive(forged({ fiat_currency: `F${index}` }));
        const order = `A-${second}-${index}`;
        const outcome = await webhooks.receive(eventOf(index * 4 + 3, { partner_order_id: order }));
        expect(outcome.kind).toBe('handled');
      }
    }
    expect(handled).toHaveLength(1_000);
  });

  it('those whose name means nothing are handled, too, once each of their senders was searched for', async () => {
    const { webhooks, clock } = searchingWebhooks(20_000, { keys: namelessKeys(1_000) });
    const senders = [3, 250, 999];
    const waiting = new Set(senders);
    for (let second = 0; second < 60 && waiting.size > 0; second++) {
      clock.ms += 1_000;
      // The flood says always the same of itself, and takes all that everybody may take.
      for (let index = 0; index < 40; index++) await webhooks.receive(forged());
      for (const place of senders) {
        const body = eventOf(place, { partner_order_id: `A-${second}` });
        const { kind } = await webhooks.receive(body);
        // Once found, never refused again.
        if (kind !== 'handled') expect(waiting.has(place)).toBe(true);
        else waiting.delete(place);
      }
    }
    expect([...waiting]).toEqual([]);
  });
});
