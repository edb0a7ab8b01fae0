/**
 * For the author of a webhook handler with a PostgreSQL database: keep each order's timeline, whatever order its
 * events come in and however often, and act on each step once, in one transaction.
 */

import { applyEvent, emptyTimeline, type OrderTimeline, raisedFlags } from 'partner-exchange-sdk/events';
import { eventBody } from 'partner-exchange-sdk/testing';
import { createWebhooks, type OrderEvent } from 'partner-exchange-sdk/webhooks';
import { Pool, type PoolClient } from 'pg';
import { credentials, signedEvent } from './support/signed-events.ts';

const connectionString = process.env.DATABASE_URL;
if (connectionString === undefined) {
  console.log('This example needs a PostgreSQL: DATABASE_URL=postgres://user:password@host:5432/database');
  process.exit();
}

// A schema of this run's own; yours would be a migration.
const schema = `order_timeline_${process.pid}`;
const pool = new Pool({ connectionString, max: 4, options: `-c search_path=${schema}` });
await pool.query(`
  create schema ${schema};
  create table orders (partner_order_id text primary key, timeline jsonb not null);
  create table payouts (partner_order_id text primary key, txn_hash text not null);
  create table alerts (partner_order_id text, flag jsonb);`);

async function record(event: OrderEvent): Promise<void> {
  const id = event.partner_order_id;
  // The third-party error need not name its order: that is for a person to look at.
  if (id === undefined || id === null) return console.log('no order is named by', event.event_name);
  await inTransaction(async (database) => {
    // The row has to exist before it can be locked: two first events of one order may come at once.
    await database.query('insert into orders values ($1, $2) on conflict do nothing', [
      id,
      emptyTimeline(id),
    ]);
    const { rows } = await database.query<{ timeline: OrderTimeline }>(
      'select timeline from orders where partner_order_id = $1 for update',
      [id],
    );
    const before = rows[0]?.timeline ?? emptyTimeline(id);
    const after = applyEvent(before, event);
    // The same object: this event says nothing new.
    if (after === before) return;
    await database.query('update orders set timeline = $2 where partner_order_id = $1', [id, after]);
    if (after.stage === 'credited' && before.stage !== 'credited') {
      await database.query('insert into payouts values ($1, $2)', [id, after.facts.crypto_txn_hash?.[0]]);
    }
    for (const flag of raisedFlags(before, after)) {
      await database.query('insert into alerts values ($1, $2)', [id, flag]);
    }
  });
}

// Two machines: neither knows which deliveries the other has handled. The database does.
const machines = [1, 2].map(() => createWebhooks({ credentials }).onAny(record));

const partner_order_id = 'A-1001';
// Late, twice and out of order; and the amount has changed on the way.
const deliveries = [
  signedEvent(),
  signedEvent(eventBody('event.buy.init', { partner_order_id })),
  signedEvent(),
  signedEvent(eventBody('event.buy.received.fiat', { partner_order_id, fiat_amount_to_pay: 1500.05 })),
];

try {
  const outcomes = await Promise.all(
    machines.flatMap((webhooks) => deliveries.map((text) => webhooks.receive(text))),
  );
  console.log('answers:', outcomes.map(({ status }) => status).join(' '));
  const orders = await pool.query<{ timeline: OrderTimeline }>('select timeline from orders');
  const { stage, seen } = orders.rows[0]?.timeline ?? emptyTimeline('A-1001');
  console.log('order A-1001 is', stage, 'by', seen.join(', '));
  const payouts = await pool.query('select * from payouts');
  console.log('payouts recorded:', payouts.rowCount);
  const alerts = await pool.query<{ flag: object }>('select flag from alerts');
  for (const { flag } of alerts.rows) console.log('alert:', JSON.stringify(flag));
  if (stage !== 'credited' || payouts.rowCount !== 1 || alerts.rowCount !== 1) process.exitCode = 1;
} finally {
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
}

async function inTransaction(work: (database: PoolClient) => Promise<void>): Promise<void> {
  const database = await pool.connect();
  try {
    await database.query('begin');
    await work(database);
    await database.query('commit');
    database.release();
  } catch (error) {
    // The connection goes with its transaction, in whatever state that is.
    database.release(true);
    throw error;
  }
}
