/** What the handler of a page stands in: an inbox with one delivery, whose first attempt fails just before its commit. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { storeInbox } from 'partner-exchange-sdk/inbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import { eventBody, signedDelivery } from 'partner-exchange-sdk/testing';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import pg from 'pg';

const { SCHEMA = '' } = process.env;
const url = new URL(process.env.DATABASE_URL ?? '');
url.searchParams.set('options', `-c search_path=${SCHEMA}`);
export const connectionString = url.href;
export const pool = new pg.Pool({ connectionString });
await pool.query(`CREATE SCHEMA ${SCHEMA}; CREATE TABLE ${SCHEMA}.credits (effect text PRIMARY KEY)`);

const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};
const store = postgresStore({ client: pool });
const inbox = storeInbox({ store, role: 'drain', retry: { firstDelayMs: 1 } });
const errors = [];
const receiver = createWebhooks({ credentials, inbox, onError: (error) => errors.push(error.message) });
const failure = 'It fails before the commit.';

/** For the program of the page. */
export const webhooks = {
  on(name, handler) {
    let isFirst = true;
    receiver.on(name, (event, context) => {
      const handledIn = async (given) => {
        await context.handledIn(given);
        if (isFirst) {
          isFirst = false;
          throw new Error(failure);
        }
      };
      return handler(event, { handledIn });
    });
  },
};

/** Effect and mark are rolled back together, and then committed together; a second text of the credit has no effect. */
export async function checkHandler() {
  const event = eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1' });
  const { body } = signedDelivery(event, { credentials });
  const second = signedDelivery({ ...event, crypto_payment_status: 'Completed' }, { credentials });
  const kindOf = async (text = body) => (await receiver.receive(text)).kind;
  const credited = async () => (await pool.query('SELECT effect FROM credits')).rows;
  try {
    assert.equal(await kindOf(), 'stored');
    const { handled, failed } = await inbox.drain({ limit: 1 });
    assert.deepEqual([handled, failed, errors], [0, 1, [failure]]);
    assert.deepEqual(await credited(), []);
    while ((await inbox.drain()).handled === 0) await pause(10);
    const once = [{ effect: 'A-1/event.buy.credited.crypto' }];
    assert.deepEqual(await credited(), once);
    assert.equal(await kindOf(), 'duplicate');
    assert.equal(await kindOf(second.body), 'stored');
    assert.equal((await inbox.drain()).handled, 1);
    assert.deepEqual(await credited(), once);
    assert.deepEqual(errors, [failure]);
  } finally {
    await inbox.stop();
    await store.close();
    await pool.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
    await pool.end();
  }
}
