import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { flawOfValue } from '../../../deployment/environment-variables.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { postgresStore } from '../../../store/postgres/postgres-store.ts';
import { defaultTable } from '../../../store/postgres/statements.ts';
import type { RecordStore } from '../../../store/record-store.ts';
import { redisStore } from '../../../store/redis/redis-store.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { passwordsIn } from '../terminal/secret-guard.ts';
import { shownPath } from './input.ts';

/** Where something is stored. */
export interface StoreAddress {
  readonly kind: 'sqlite' | 'redis' | 'postgres';
  /** The absolute path of a file, or a URL, which may hold a password. */
  readonly target: string;
  /** The address without a user and a password. */
  readonly shown: string;
  /** Whether a file is there; `true` for a server. */
  readonly isThere: boolean;
}

interface OpenOptions {
  readonly address: StoreAddress;
  /** Makes nothing at a misspelt address. @default false: what is missing is made */
  readonly mustExist?: boolean | undefined;
  /** Which table of a PostgreSQL: the flags `--schema` and `--table`. */
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
}

/** Works with a record store, and closes it and its connection afterwards. */
export async function withStore<Result>(
  context: CliContext,
  options: OpenOptions,
  work: (store: RecordStore) => Promise<Result>,
): Promise<Result> {
  const { store, close } = await openStore(context, options);
  try {
    return await work(store);
  } finally {
    await close();
  }
}

/** @throws {CliError} if it must exist, and its file or table is not there */
export async function openStore(
  context: CliContext,
  { address, mustExist = false, schema, table }: OpenOptions,
): Promise<{ readonly store: RecordStore; readonly close: () => Promise<void> }> {
  const { now } = context;
  const { kind, target } = address;
  if (kind !== 'postgres' && (schema ?? table) !== undefined)
    throw new CliError('--schema and --table are for a PostgreSQL: leave them out.');
  switch (kind) {
    case 'sqlite': {
      if (mustExist) await requireSqliteTable(address);
      // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
      const { sqliteStore } = await import('../../../store/sqlite/sqlite-store.ts');
      const store = sqliteStore({ path: target, now });
      return { store, close: () => store.close() };
    }
    case 'redis': {
      const { Redis } = await loadPackage<typeof import('ioredis')>(context, 'ioredis');
      const client: Redis = new Redis(target, { lazyConnect: true, maxRetriesPerRequest: 3 });
      // Without a listener the client would print the error. It says more than that of the failing call.
      let failure: unknown;
      client.on('error', (error) => {
        failure ??= error;
      });
      await client.connect().catch((error: unknown) => {
        client.disconnect();
        throw failure ?? error;
      });
      // Redis has nothing to make before the first record.
      const store = redisStore({ client, now });
      return { store, close: () => store.close().finally(() => client.disconnect()) };
    }
    case 'postgres': {
      const { Pool } = await loadPackage<typeof import('pg')>(context, 'pg');
      const pool = new Pool({ connectionString: target });
      pool.on('error', () => {});
      try {
        if (mustExist) await requirePostgresTable(pool, { schema, table });
      } catch (error) {
        await pool.end();
        throw error;
      }
      const store = postgresStore({ client: pool, now, schema, table });
      return { store, close: () => store.close().finally(() => pool.end()) };
    }
  }
}

/** A SQLite file that holds something else must not get tables of ours. */
async function requireSqliteTable({ target, shown, isThere }: StoreAddress): Promise<void> {
  if (!isThere) throw new CliError(`There is no ${shown}: check the path.`);
  // SQLite would wait for a writer of a FIFO. Opening it to work with it says what it is.
  if (!statSync(target).isFile()) return;
  if (await hasTable(target)) return;
  throw new CliError(`${shown} has no table partner_records: check the path.`);
}

async function hasTable(path: string): Promise<boolean> {
  const { DatabaseSync } = await import('node:sqlite');
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const query = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
      return query.get('partner_records') !== undefined;
    } finally {
      database.close();
    }
  } catch {
    // Opening it to work with it says why it cannot be read.
    return true;
  }
}

/** Reads the catalog alone. */
async function requirePostgresTable(
  pool: Pool,
  { schema, table = defaultTable }: Pick<OpenOptions, 'schema' | 'table'>,
): Promise<void> {
  const parts = schema === undefined ? [table] : [schema, table];
  const name = parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  const { rows } = await pool.query('SELECT to_regclass($1) IS NOT NULL AS found', [name]);
  if (rows[0]?.found === true) return;
  const place = schema === undefined ? 'this database' : `the schema ${printableText(schema)}`;
  throw new CliError(
    `There is no table ${printableText(table)} in ${place}: check the address, --schema (default: the first schema of its search_path that has the table) and --table.`,
  );
}

/** @throws {CliError} if no key begins with the prefix: an empty answer about records that are elsewhere misleads */
export async function requireRecords(store: RecordStore, prefix: string, what: string): Promise<void> {
  if ((await store.list({ prefix, limit: 1 })).length > 0) return;
  throw new CliError(`${what}: check the store, --schema, --table and --prefix.`, {
    exitCode: exitCodes.findings,
  });
}

/**
 * Reads `orders.sqlite`, `sqlite:orders.sqlite`, `redis://…`, `postgres://…`, or `env:NAME`, a variable that holds one
 * of these.
 */
export function parseStoreAddress(context: CliContext, place: string): StoreAddress {
  const variable = /^env:(.*)$/s.exec(place)?.[1];
  const text = variable === undefined ? place : context.env[variable];
  if (!text) throw new CliError(`The variable ${variable} is not set: set it to the address of the store.`);
  // Any other text is the name of a file.
  const flaw = variable === undefined ? undefined : flawOfValue(text);
  if (flaw !== undefined) throw new CliError(`The value of the variable ${variable} ${flaw}.`);
  const scheme = /^(rediss?|postgres|postgresql):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const path = text.replace(/^sqlite:/, '');
    const target = resolve(context.cwd, path);
    return { kind: 'sqlite', target, shown: shownPath(path), isThere: existsSync(target) };
  }
  const passwords = passwordsIn(text);
  if (passwords.length > 0) {
    for (const secret of [text, ...passwords]) context.secrets.add(secret);
    if (variable === undefined) {
      throw new CliError(
        'That address holds a password, and other users see arguments: put it into a variable, and give env:NAME.',
      );
    }
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    throw new CliError('The address of the store is not a URL: check how it is spelled.');
  return {
    kind: scheme.startsWith('redis') ? 'redis' : 'postgres',
    target: text,
    shown: `${url.protocol}//${url.host}${url.pathname}`,
    isThere: true,
  };
}

/** The options that name a store, as they were given. */
export function storeOptions(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${printableText(value)}`]))
    .join(' ');
}

/** Loads a package of the user's project: this one does not bring it. */
async function loadPackage<Package>({ cwd }: CliContext, name: string): Promise<Package> {
  let path: string;
  try {
    path = createRequire(join(cwd, 'any-file.js')).resolve(name);
  } catch {
    throw new CliError(
      `This needs the package ${name}, which is not installed here: run "npm install ${name}".`,
    );
  }
  const loaded = await import(pathToFileURL(path).href);
  // Sound: the package has these names. A CommonJS package may have some only on its default export.
  return { ...loaded.default, ...loaded } as Package;
}
