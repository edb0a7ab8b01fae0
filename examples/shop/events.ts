/** The handlers of the service's events. Each runs at least once, in any replica. */
import {
  type BuyCloseEvent,
  type BuyCreditedEvent,
  effectKey,
  isThirdPartyKycError,
} from 'partner-exchange-sdk/events';
import { type OrderJournal, refusedEvent } from 'partner-exchange-sdk/orders';
import { postgresStore } from 'partner-exchange-sdk/store';
import type { EventContext, Webhooks } from 'partner-exchange-sdk/webhooks';
import type { Database } from './database.ts';

export function handleEvents(
  webhooks: Webhooks,
  { database, journal }: { database: Database; journal: OrderJournal },
) {
  return (
    webhooks
      // Before all others: an event that is not about the order, or about no order of ours, is a dead letter.
      .onAny(async (event, context) => {
        const { result } = await journal.observe(event, context);
        if (result === 'unknown_order' || result === 'other_partner') throw refusedEvent(event, result);
      })
      .onUnrecognized(journal.observe)
      .on('event.buy.init', async ({ partner_order_id, payer_into_account, payment_link }) => {
        await database.writePayInto(partner_order_id, { ...payer_into_account, payment_link });
      })
      .on('event.buy.received.fiat_kyc_error', async ({ partner_order_id, kyc_error_type, ...event }) => {
        const reason = isThirdPartyKycError(kyc_error_type)
          ? `paid from the account of ${event.sender_name}`
          : `the buyer has to identify at ${event.default_kyc_url}`;
        await database.writeHeld(partner_order_id, reason);
      })
      .on('event.buy.third_party_error', async (event) => {
        if (event.partner_order_id != null)
          await database.writeHeld(event.partner_order_id, 'paid by a third party');
      })
      .on('event.buy.credited.crypto', async (event, context) => {
        const amount = context.decimal('crypto_amount_to_receive');
        await once('credited', { event, context, amount });
      })
      .on('buy.event.close', async (event, context) => {
        const { status, amount_refunded } = event.meta_data;
        // Another status is for a person: at last a dead letter.
        if (status !== 'refunded') throw new Error(`A close with the status ${status}.`);
        await once('refunded', { event, context, amount: amount_refunded });
      })
  );

  /** Ends a purchase: the effect, its guard and the mark of the delivery are one transaction. */
  async function once(
    ending: 'credited' | 'refunded',
    {
      event,
      context,
      amount,
    }: {
      event: BuyCreditedEvent | BuyCloseEvent;
      context: EventContext;
      amount: string | undefined;
    },
  ): Promise<void> {
    const effect = effectKey(event, context);
    // At last a dead letter, for a person.
    if (effect === undefined || amount === undefined)
      throw new Error('The event names no order or no amount.');
    await database.inTransaction(async (client) => {
      // Another text about this step may have been here before: nothing happens then.
      const { rowCount: isNew } = await client.query(
        'INSERT INTO effects VALUES ($1, $2, $3) ON CONFLICT (effect) DO NOTHING',
        [effect, event.partner_order_id, amount],
      );
      if (isNew) {
        const { rows } = await client.query(
          'UPDATE purchases SET ended = $2, held = NULL WHERE id = $1 RETURNING phone',
          [event.partner_order_id, ending],
        );
        if (ending === 'credited') {
          await client.query('UPDATE customers SET balance = balance + $2 WHERE phone = $1', [
            rows[0].phone,
            amount,
          ]);
        }
      }
      // Committed with the effect: this delivery is never handled again.
      await context.handledIn(postgresStore({ client }));
    });
  }
}
