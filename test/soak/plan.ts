import type { PartnerCredentials } from 'partner-exchange-sdk';

/** Each has a partner with a store of this kind. */
export const engines = ['sqlite', 'redis', 'postgres'] as const;
export type Engine = (typeof engines)[number];

/** What a replica is started with. */
export interface ReplicaPlace {
  readonly engine: Engine;
  /** A folder, or the URL of a server. */
  readonly address: string;
  readonly callback: string;
  /** Counts the effect of an event: `POST <books>/<order>`. */
  readonly books: string;
  readonly apiKey: string;
  readonly secret: string;
}

/** What the parent asks a replica for. */
export interface ReplicaCalls {
  readonly order: (given: { id: string }) => Promise<{ state: string }>;
  readonly abandon: (given: { id: string }) => Promise<unknown>;
  readonly code: (given: { to_phone: string }) => Promise<{ id: string; delivery: string }>;
  readonly check: (given: { id: string; code: string }) => Promise<{ ok: boolean }>;
  /** The state of each number. */
  readonly send: (given: { name: string; first: number }) => Promise<Record<string, string>>;
  readonly request: (given: object) => Promise<unknown>;
  readonly receive: (given: { keys: PartnerCredentials }) => Promise<unknown>;
  readonly promote: (given: object) => Promise<unknown>;
  readonly sample: (given: object) => Promise<{ heap: number; open: number }>;
}

export function partnerOf(engine: Engine) {
  return { partner_code: engine, email: `${engine}@soak.example` };
}

/** The order of an id, the same in every process. */
export function orderOf(id: string, callback: string) {
  return {
    partner_order_id: id,
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: callback,
  };
}

export const numbersOfText = 40;

/** The numbers of a text, each its own. */
export function numbersOf(first: number): string[] {
  return Array.from({ length: numbersOfText }, (_, index) => phoneOf(first + index));
}

export function phoneOf(number: number): string {
  return `+234803${String(number).padStart(7, '0')}`;
}
