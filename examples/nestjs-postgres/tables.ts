/** The tables of the shop, and that of the package. A migration of yours makes them, before any process starts. */
export const tables = `
CREATE TABLE customers (
  id text PRIMARY KEY,
  balance numeric NOT NULL DEFAULT 0
);
CREATE TABLE purchases (
  id text PRIMARY KEY, -- the partner_order_id: never made anew for an order that may exist
  customer text NOT NULL REFERENCES customers,
  fiat_amount numeric NOT NULL,
  address text NOT NULL,
  state text NOT NULL DEFAULT 'prepared', -- credited, or a state of the journal
  revision integer NOT NULL DEFAULT 0 -- of the order in the journal: a later state is never overwritten
);
CREATE TABLE credits (
  effect text PRIMARY KEY, -- effectKey: the order and its step
  purchase text NOT NULL REFERENCES purchases,
  amount numeric NOT NULL
);
CREATE TABLE partner_exchange_records (
  key text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  expires_at bigint
);
CREATE INDEX partner_exchange_records_expiry ON partner_exchange_records (expires_at) WHERE expires_at IS NOT NULL;
`;
