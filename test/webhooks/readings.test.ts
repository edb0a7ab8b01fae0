import { describe, expect, expectTypeOf, it } from 'vitest';
import type { EventReading } from '../../src/events/event-readings.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import type { Inbox, InboxHost } from '../../src/inbox/inbox.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyCreditedBody, buyInitBody } from '../support/bodies.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

const { payment_link: _, transactional_kyc: __, ...rest } = buyCreditedBody();
const otherForm = {
  ...rest,
  event_name: 'event buy credited crypto',
  exchange_rate: '1538.510',
  crypto_payment_status: 'paid',
  transactional_kyc: { email: null, phone: '', first_name: '', last_name: '' },
};
const readings: readonly EventReading[] = [
  { path: ['event_name'], found: 'event buy credited crypto', readAs: 'event.buy.credited.crypto' },
  { path: ['payment_link'], found: 'nothing', readAs: 'null' },
  { path: ['transactional_kyc', 'email'], found: 'null', readAs: 'empty text' },
  { path: ['exchange_rate'], found: 'text', readAs: 'number' },
  { path: ['crypto_payment_status'], found: 'paid', readAs: 'PAID' },
];
const byPath = (one: EventReading, other: EventReading) => one.path.join().localeCompare(other.path.join());

interface Handled {
  readonly event: OrderEvent;
  readonly context: EventContext;
}

/** An event handled at once, and again as an inbox hands it over later. */
async function handledTwice(body: string, options: WebhooksOptions = {}): Promise<Handled[]> {
  const handled: Handled[] = [];
  let host: InboxHost | undefined;
  const inbox: Inbox = {
    attach(attached) {
      host = attached;
    },
    async receive(stored, handle) {
      await handle();
      await host?.handle(structuredClone(stored));
      return 'handled';
    },
  };
  const webhooks = quietWebhooks({ ...options, inbox });
  webhooks.onAny((event, context) => {
    handled.push({ event, context });
  });
  expect((await webhooks.receive(body)).status).toBe(200);
  expect(handled).toHaveLength(2);
  return handled;
}

describe('the handler of an authentic event in another form', () => {
  it('gets the documented event, the body as sent, and what was read, at once and from the inbox', async () => {
    for (const { event, context } of await handledTwice(delivery(otherForm))) {
      expect(event).toMatchObject({
        event_name: 'event.buy.credited.crypto',
        exchange_rate: 1538.51,
        crypto_payment_status: 'PAID',
        payment_link: null,
        transactional_kyc: { email: '' },
      });
      expect(context.body).toEqual(JSON.parse(delivery(otherForm)));
      expect(context.name).toBe('event.buy.credited.crypto');
      expect(context.readings.toSorted(byPath)).toEqual(readings.toSorted(byPath));
      expectTypeOf(context.readings).toEqualTypeOf<readonly EventReading[]>();
    }
  });

  it('gets the digits of decimal text from decimal', async () => {
    for (const { context } of await handledTwice(delivery(otherForm))) {
      expect(context.decimal('exchange_rate')).toBe('1538.510');
      expect(context.decimal('fiat_amount_to_pay')).toBe('15000.5');
      expect(context.decimal(['payer_into_account', 'account_number'])).toBeUndefined();
      expect(context.decimal('partner_order_id')).toBeUndefined();
    }
  });
});

describe('a delivery in another form', () => {
  it('is reported with its readings, without another value of it', async () => {
    const reports: DeliveryReport[] = [];
    const webhooks = quietWebhooks({ onDelivery: (report) => reports.push(report) }).onAny(() => {});
    await webhooks.receive(delivery(otherForm));
    await webhooks.receive(delivery(buyInitBody()));
    expect(reports[0]?.readings?.toSorted(byPath)).toEqual(readings.toSorted(byPath));
    expect(reports[1]?.readings).toBeUndefined();
    expect(JSON.stringify(reports)).not.toContain('1538');
  });
});
