/** The shop's own tables: rows, and one way to run a transaction. */
import type { BuyOrder } from 'partner-exchange-sdk';
import type { JournaledOrder } from 'partner-exchange-sdk/orders';
import pg from 'pg';

/** A row of `purchases`. */
export interface Purchase {
  readonly id: string;
  readonly phone: string;
  readonly fiat_amount: string;
  readonly address: string;
  readonly state: string;
  readonly pay_into: object | null;
  readonly held: string | null;
  readonly ended: 'credited' | 'refunded' | null;
}

export type Database = ReturnType<typeof openDatabase>;

export function openDatabase(connectionString: string | undefined) {
  const pool = new pg.Pool({ connectionString });
  // An idle connection that ends would end the process.
  pool.on('error', (error) => console.error('PostgreSQL:', error.message));

  return {
    pool,

    async inTransaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch((failure: Error) => {
          broken = failure;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },

    async readPurchase(id: string): Promise<Purchase | undefined> {
      const { rows } = await pool.query<Purchase>('SELECT * FROM purchases WHERE id = $1', [id]);
      return rows[0];
    },

    /** Writes the state of an order unless a later one is there: a request, an event and a person may write in any order. */
    async writeState({ partner_order_id, revision, state }: JournaledOrder): Promise<void> {
      await pool.query('UPDATE purchases SET state = $2, revision = $3 WHERE id = $1 AND revision < $3', [
        partner_order_id,
        state,
        revision,
      ]);
    },

    /** Notes where the buyer pays. The reply and the first event say the same. */
    async writePayInto(id: string, payInto: object): Promise<void> {
      await pool.query('UPDATE purchases SET pay_into = $2 WHERE id = $1', [id, JSON.stringify(payInto)]);
    },

    async writeHeld(id: string, reason: string): Promise<void> {
      await pool.query('UPDATE purchases SET held = $2 WHERE id = $1', [id, reason]);
    },
  };
}

/** The order of a purchase: always made from the row, never from a request. */
export function orderOf({ id, fiat_amount, address }: Purchase, publicUrl: string): BuyOrder {
  return {
    partner_order_id: id,
    fiat_amount,
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: address,
    partner_callback_url: `${publicUrl}/partner/events`,
  };
}
