/** The tables of the shop, and that of the package. A migration of yours makes them, before any process starts. */
export const tables = `
CREATE TABLE customers (
  phone text PRIMARY KEY, -- confirmed by a code
  balance numeric NOT NULL DEFAULT 0
);
CREATE TABLE sessions (
  token_hash text PRIMARY KEY,
  phone text NOT NULL REFERENCES customers,
  expires_at timestamptz NOT NULL
);
CREATE TABLE purchases (
  id text PRIMARY KEY, -- the partner_order_id: never made anew for an order that may exist
  phone text NOT NULL REFERENCES customers,
  fiat_amount numeric NOT NULL,
  address text NOT NULL,
  state text NOT NULL DEFAULT 'prepared', -- of the order in the journal
  revision integer NOT NULL DEFAULT 0, -- of the order in the journal: a later state is never overwritten
  pay_into jsonb, -- where the buyer pays
  held text, -- why the service holds the order, or why a person has to look at it
  ended text -- 'credited' or 'refunded'
);
CREATE TABLE effects (
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
