import { invalidOption } from '../../internal/options.ts';

/** The parts of a `Client` of pg that we use. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
  /** `I`: idle, `T`: in a transaction, `E`: in one that has failed. */
  getTransactionStatus(): string | null;
}

/** The parts of a client of a pool of pg that we use. */
export interface PgPoolClient extends Omit<PgClient, 'getTransactionStatus'> {
  readonly getTransactionStatus?: () => string | null;
  /** @param destroy ends the connection */
  release(destroy?: boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The parts of a `Pool` of pg that we use. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<unknown>;
  connect(): Promise<PgPoolClient>;
  readonly totalCount: number;
  on(event: 'acquire', listener: (client: PgPoolClient) => void): unknown;
}

/** @throws {ConfigurationError} `invalid_option` unless it is a pool or a client */
export function checkClient(given: unknown): PgPool | PgClient {
  // Sound as far as it can be: of a function only its being one can be checked.
  const client = given as PgPool | PgClient;
  if (typeof client?.query === 'function') {
    if (isPool(client)) return client;
    if (typeof client.getTransactionStatus === 'function') return client;
  }
  throw invalidOption('postgresStore needs a Pool of pg, or a Client of pg 8.21 or later.');
}

export function isPool(client: PgPool | PgClient): client is PgPool {
  return 'totalCount' in client && typeof client.connect === 'function';
}

/** The parts of a result of pg that we use. */
interface PgResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number | null;
  /** `COMMIT`, `SELECT` and so on. */
  readonly command: string;
}

export function toResult(result: unknown): PgResult {
  // Sound: pg returns these for every statement.
  return result as PgResult;
}
