import { createHash } from 'node:crypto';
import { invalidOption } from '../../internal/options.ts';
import { expiryGraceMs } from '../record-store.ts';

/** The table of a store that names none. */
export const defaultTable = 'partner_exchange_records';

/** Most expired records deleted at once, so that no change waits for long. */
export const sweepLimit = 200;
/** Any fixed number: processes that create the table at the same time wait for each other. */
const creationLock = '7310589201846122341';

export type Statements = ReturnType<typeof statementsFor>;

export function statementsFor({ schema, table }: { schema: string | undefined; table: string }) {
  const name = schema === undefined ? `"${table}"` : `"${schema}"."${table}"`;
  return {
    create: `
      SELECT pg_advisory_xact_lock(${creationLock});
      CREATE TABLE IF NOT EXISTS ${name} (
        key text COLLATE "C" PRIMARY KEY,
        value text NOT NULL,
        expires_at bigint
      );
      CREATE INDEX IF NOT EXISTS "${table}_expiry" ON ${name} (expires_at) WHERE expires_at IS NOT NULL`,

    /**
     * Locks keys, also those without a row, until the end of the transaction; all take them in one order. The numbers
     * depend on the table, however it was named.
     */
    lock(keys: readonly string[]): string {
      const numbers = [...new Set(keys.map(numberOf))].sort((a, b) => (a < b ? -1 : 1));
      return `SELECT pg_advisory_xact_lock(number # '${name}'::regclass::oid::bigint)
        FROM unnest('{${numbers.join()}}'::bigint[]) AS number`;
    },

    /** Values: the keys. */
    read: `SELECT key, value, expires_at::text FROM ${name} WHERE key = ANY ($1::text[])`,

    /** Values: the keys. */
    remove: `DELETE FROM ${name} WHERE key = ANY ($1::text[])`,

    /** Values: keys, values, expiries. */
    write: `
      INSERT INTO ${name} (key, value, expires_at)
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,

    /** Values: prefix, what is greater than every key with it, key to begin after, time, limit. */
    list: `
      SELECT key, value, expires_at::text FROM ${name}
      WHERE key COLLATE "C" >= $1 AND key COLLATE "C" < $2 AND key COLLATE "C" > $3
        AND (expires_at IS NULL OR expires_at > $4::bigint)
      ORDER BY key COLLATE "C" LIMIT $5`,

    /**
     * Values: time. The server has to agree on it, so that a process with a wrong clock deletes nothing that is still
     * valid. Rows being changed are passed over, so it waits for no lock.
     */
    sweep: `
      DELETE FROM ${name} WHERE key IN (
        SELECT key FROM ${name}
        WHERE expires_at < least($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) - ${expiryGraceMs}
        ORDER BY expires_at LIMIT ${sweepLimit} FOR UPDATE SKIP LOCKED)`,
  };
}

/** Two keys with the same number only wait for each other. */
function numberOf(key: string): bigint {
  return createHash('sha256').update(key).digest().readBigInt64BE();
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkName(name: unknown, option: string): string {
  // PostgreSQL cuts longer names off, and the index has a suffix.
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,55}$/.test(name)) return name;
  throw invalidOption(`${option} must be a name of up to 56 letters, digits and _.`);
}
