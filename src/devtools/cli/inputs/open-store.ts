import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { flawOfValue } from '../../../deployment/environment-variables.ts';
import { isJsonObject } from '../../../internal/json.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { type PgPool, type PgPoolClient, rowsOf } from '../../../store/postgres/pg-client.ts';
import { postgresStore } from '../../../store/postgres/postgres-store.ts';
import { defaultTable } from '../../../store/postgres/statements.ts';
import type { RecordStore } from '../../../store/record-store.ts';
import type { IoredisClient } from '../../../store/redis/redis-client.ts';
import { redisStore } from '../../../store/redis/redis-store.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { passwordsIn } from '../terminal/secret-guard.ts';
import { shownPath } from './input.ts';

/** The members of `Redis` of ioredis that this file calls, and the store does not. */
interface RedisConnection extends IoredisClient {
  connect(): Promise<unknown>;
  disconnect(): void;
  on(event: 'error', listener: () => void): unknown;
}

/** The members of `Pool` of pg that this file calls, and the store does not. */
interface PostgresPool extends PgPool {
  end(): Promise<void>;
  on(event: 'error' | 'acquire', listener: (client: PgPoolClient) => void): unknown;
}

/** Which table of a PostgreSQL: the flags `--schema` and `--table`. */
export interface TableNames {
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
}

/** Works with a record store, and closes it and its connection afterwards. Makes what is missing in it. */
export async function withStore<Result>(
  context: CliContext,
  { address, ...names }: TableNames & { readonly address: StoreAddress },
  work: (store: RecordStore) => Promise<Result>,
): Promise<Result> {
  return await use(await open(context, address, names), work);
}

/** The same with a store that holds records already: at a misspelt address nothing is made. */
export async function withExistingStore<Result>(
  context: CliContext,
  { at, ...names }: TableNames & { readonly at: string },
  work: (store: RecordStore) => Promise<Result>,
): Promise<Result> {
  return await use(await openExistingStore(context, at, names), work);
}

export interface OpenStore {
  readonly store: RecordStore;
  readonly close: () => Promise<void>;
}

/** @throws {CliError} if its file or table is not there */
export async function openExistingStore(
  context: CliContext,
  given: string,
  names: TableNames,
): Promise<OpenStore> {
  const address = parseExistingStoreAddress(context, given);
  if (address.kind === 'file') await requireTable(address.path, 'partner_records', given);
  if (address.kind === 'postgres') {
    const { schema, table = defaultTable } = names;
    const [isThere] = await withPostgres(context, address, (pool) => findTables(pool, [{ schema, table }]));
    if (!isThere)
      throw new CliError(`There is no table ${nameInWords({ schema, table })}: check ${whereToLook}.`);
  }
  return await open(context, address, names);
}

export function onlyOfPostgres(): CliError {
  return new CliError('--schema and --table are for a PostgreSQL: leave them out.');
}

/** What to check when a PostgreSQL does not hold what it should. */
export const whereToLook =
  'the address, --schema (default: the first schema of its search_path that has the table) and --table';

function nameInWords({ schema, table }: TableNames & { readonly table: string }): string {
  return printableText(
    schema === undefined ? `${table} in this database` : `${table} in the schema ${schema}`,
  );
}

/** Which of these tables exist. Reads the catalog alone. */
export async function findTables(
  pool: PgPool,
  tables: readonly (TableNames & { readonly table: string })[],
): Promise<boolean[]> {
  const names = tables.map(({ schema, table }) => (schema === undefined ? [table] : [schema, table]));
  const quoted = names.map((parts) => parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.'));
  const query =
    'SELECT to_regclass(name) IS NOT NULL AS found FROM unnest($1::text[]) WITH ORDINALITY AS n(name, at) ORDER BY at';
  return rowsOf(await pool.query(query, [quoted])).map(({ found }) => found === true);
}

/** Looks at a PostgreSQL, without a store over it. */
export async function withPostgres<Result>(
  context: CliContext,
  { url }: PostgresAddress,
  work: (pool: PgPool) => Promise<Result>,
): Promise<Result> {
  const pool = await openPool(context, url);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

async function openPool(context: CliContext, url: string): Promise<PostgresPool> {
  const { Pool } = await loadOptionalPackage(context, 'pg');
  // Sound: it is the class that pg exports under this name.
  const pool = new (Pool as new (options: object) => PostgresPool)({ connectionString: url });
  pool.on('error', () => {});
  return pool;
}

async function use<Result>(
  { store, close }: OpenStore,
  work: (store: RecordStore) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(store);
  } finally {
    await store.close();
    await close();
  }
}

async function open(context: CliContext, address: StoreAddress, names: TableNames): Promise<OpenStore> {
  const { now } = context;
  if (address.kind !== 'postgres' && (names.schema ?? names.table) !== undefined) throw onlyOfPostgres();
  if (address.kind === 'file') {
    // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
    const { sqliteStore } = await import('../../../store/sqlite/sqlite-store.ts');
    return { store: sqliteStore({ path: address.path, now }), close: async () => {} };
  }
  if (address.kind === 'redis') {
    const { Redis } = await loadOptionalPackage(context, 'ioredis');
    // Sound: it is the class that ioredis exports under this name.
    const Client = Redis as new (url: string, options: object) => RedisConnection;
    const client = new Client(address.url, { lazyConnect: true, maxRetriesPerRequest: 3 });
    // Without a listener the client would print the error that the failing call throws.
    client.on('error', () => {});
    await client.connect();
    // Redis has nothing to make before the first record.
    return { store: redisStore({ client, now }), close: async () => client.disconnect() };
  }
  // A further kind would not compile here.
  address.kind satisfies 'postgres';
  const pool = await openPool(context, address.url);
  return { store: postgresStore({ client: pool, now, ...names }), close: () => pool.end() };
}

/** @throws {CliError} if no key begins with the prefix: an empty answer about records that are elsewhere misleads */
export async function requireRecords(store: RecordStore, prefix: string, what: string): Promise<void> {
  if ((await store.list({ prefix, limit: 1 })).length > 0) return;
  throw new CliError(`${what}: check the store, --schema, --table and --prefix.`, {
    exitCode: exitCodes.findings,
  });
}

/** Where something is stored: a SQLite file, a Redis or a PostgreSQL. */
export type StoreAddress =
  | { readonly kind: 'file'; readonly path: string; readonly isThere: boolean }
  | { readonly kind: 'redis'; readonly url: string }
  | PostgresAddress;

export interface PostgresAddress {
  readonly kind: 'postgres';
  readonly url: string;
}

/** Reads `orders.sqlite`, `redis://…`, `postgres://…`, or `env:NAME`, a variable that holds one of these. */
export function parseStoreAddress(context: CliContext, given: string): StoreAddress {
  const variable = /^env:(.*)$/s.exec(given)?.[1];
  const address = variable === undefined ? given : context.env[variable];
  if (!address)
    throw new CliError(`The variable ${variable} is not set: set it to the address of the store.`);
  // Any other text is the name of a file.
  const flaw = variable === undefined ? undefined : flawOfValue(address);
  if (flaw !== undefined) throw new CliError(`The value of the variable ${variable} ${flaw}.`);
  const scheme = /^(rediss?|postgres|postgresql):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const path = resolve(context.cwd, address);
    return { kind: 'file', path, isThere: existsSync(path) };
  }
  const passwords = passwordsIn(address);
  if (passwords.length > 0) {
    for (const secret of [address, ...passwords]) context.secrets.add(secret);
    if (variable === undefined) {
      throw new CliError(
        'That address holds a password, and other users see arguments: put it into a variable, and give env:NAME.',
      );
    }
  }
  if (!URL.canParse(address))
    throw new CliError('The address of the store is not a URL: check how it is spelled.');
  return { kind: scheme.startsWith('redis') ? 'redis' : 'postgres', url: address };
}

/**
 * A SQLite file that holds something else must not get tables of ours.
 *
 * @throws {CliError} if the file is a database without this table
 */
export async function requireTable(path: string, table: string, given: string): Promise<void> {
  if (await hasTable(path, table)) return;
  throw new CliError(`${shownPath(given)} has no table ${table}: check the path.`);
}

async function hasTable(path: string, table: string): Promise<boolean> {
  // SQLite would wait for a writer of a FIFO. Opening it to work with it says what it is.
  if (!statSync(path).isFile()) return true;
  const { DatabaseSync } = await import('node:sqlite');
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const query = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
      return query.get(table) !== undefined;
    } finally {
      database.close();
    }
  } catch {
    // Opening it to work with it says why it cannot be read.
    return true;
  }
}

/** The same for an existing store: a misspelt path must not make an empty one. */
export function parseExistingStoreAddress(context: CliContext, given: string): StoreAddress {
  const address = parseStoreAddress(context, given);
  if (address.kind === 'file' && !address.isThere)
    throw new CliError(`There is no ${given}: check the path.`);
  return address;
}

/** Loads a package of the user's project: this one does not bring it. */
export async function loadOptionalPackage(
  context: CliContext,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const path = findOptionalPackage(context, name);
  if (path === undefined) throw packageMissing([name]);
  const loaded: Record<string, unknown> = await import(pathToFileURL(path).href);
  // A CommonJS package has some names only on its default export.
  const { default: main } = loaded;
  const members = typeof main === 'function' ? { ...main } : isJsonObject(main) ? main : {};
  return { ...members, ...loaded };
}

/** Its file; `undefined` if it is not installed where the user is. */
export function findOptionalPackage({ cwd }: CliContext, name: string): string | undefined {
  try {
    return createRequire(join(cwd, 'any-file.js')).resolve(name);
  } catch {
    return undefined;
  }
}

/** @param oneOf any of them would do */
export function packageMissing(oneOf: readonly string[]): CliError {
  const install = oneOf.map((name) => `"npm install ${name}"`).join(' or ');
  return new CliError(
    `This needs the package ${oneOf.join(' or ')}, which is not installed here: run ${install}.`,
  );
}
