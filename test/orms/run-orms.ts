import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tools/checks/entries.ts';
import { installPacked } from '../../tools/checks/install-packed.ts';
import { run } from '../../tools/checks/run.ts';
import { startTally } from '../../tools/checks/tally.ts';
import { startTestServers } from '../support/test-servers.ts';

/*
 * Installs the packed package and the query builders in this folder, and runs the handlers of docs/details/inboxes.md
 * that mark a delivery in a transaction of theirs, as they are printed. Needs a build.
 *
 * In CI the packages and a PostgreSQL have to be there. Elsewhere what is missing is named.
 */

const page = 'docs/details/inboxes.md';

interface Orm {
  /** The first line of its program on the page. */
  readonly mark: string;
  /** What a user's program has before the handler. */
  readonly setUp: string;
  readonly close?: string;
  /** Makes what the program imports. */
  readonly prepare?: () => void;
}

const orms: readonly Orm[] = [
  {
    mark: '// TypeORM',
    setUp: `
      import { DataSource } from 'typeorm';
      const dataSource = await new DataSource({ type: 'postgres', url: connectionString }).initialize();`,
    close: 'await dataSource.destroy();',
  },
  {
    mark: '// Knex',
    setUp: `
      import connect from 'knex';
      const knex = connect({ client: 'pg', connection: connectionString });`,
    close: 'await knex.destroy();',
  },
  {
    mark: '// Drizzle',
    setUp: `
      import { drizzle } from 'drizzle-orm/node-postgres';
      import { pgTable, text } from 'drizzle-orm/pg-core';
      const credits = pgTable('credits', { effect: text().primaryKey() });`,
  },
  {
    mark: '// Prisma',
    setUp: `
      import { PrismaPg as Adapter } from '@prisma/adapter-pg';
      import { PrismaClient } from '../../dist/client/client.ts';
      // It names the schema in every statement.
      class PrismaPg extends Adapter {
        constructor(pool) { super(pool, { schema: process.env.SCHEMA }); }
      }
      let notified;
      const notifyBuyer = async (credit) => { notified = credit; };`,
    close: `
      await prisma.$disconnect();
      if (notified?.effect !== 'A-1/event.buy.credited.crypto') throw new Error('Prisma did not read what was committed.');`,
    prepare: generatePrismaClient,
  },
];

const folder = import.meta.dirname;
const generated = join(folder, 'dist');
const isInCi = process.env.CI === 'true' || process.env.CI === '1';
const tally = startTally();
let isInstalled = isInCi;
try {
  installPacked(folder);
  isInstalled = true;
} catch (error) {
  if (isInCi) throw error;
  console.log(`Skipping all: ${error instanceof Error ? error.message : String(error)}`);
}
const { postgres, stop } = await startTestServers();
if ('missing' in postgres && isInCi) throw new Error(`There is no ${postgres.missing}.`);
if ('missing' in postgres) console.log(`Skipping all: there is no ${postgres.missing}.`);
else if (isInstalled)
  for (const orm of orms) await tally.check(orm.mark.slice(3), () => runOrm(orm, postgres.url));
rmSync(generated, { recursive: true, force: true });
await stop();
if (isInCi || (isInstalled && 'url' in postgres)) tally.finish();

function runOrm({ mark, setUp, close = '', prepare }: Orm, DATABASE_URL: string): void {
  prepare?.();
  const program = `
    import { effectKey } from 'partner-exchange-sdk/events';
    import { postgresStore } from 'partner-exchange-sdk/store';
    import { checkHandler, connectionString, pool, webhooks } from '../../handle-twice.mjs';
    ${setUp}
    ${handlerOf(mark)}
    await checkHandler();
    ${close}`;
  // Below the packages that it imports.
  const programs = join(folder, 'node_modules', '.programs');
  mkdirSync(programs, { recursive: true });
  const file = join(programs, `${mark.slice(3)}.mjs`);
  writeFileSync(file, program);
  const env = { ...process.env, DATABASE_URL, SCHEMA: `orm_${randomBytes(6).toString('hex')}` };
  run(process.execPath, [file], { cwd: folder, env, timeout: 120_000 });
}

/** Writes the client of the table `credits`, as TypeScript, which Node does not run below `node_modules`. */
function generatePrismaClient(): void {
  const schema = join(generated, 'credits.prisma');
  mkdirSync(generated, { recursive: true });
  writeFileSync(
    schema,
    `
      generator client {
        provider = "prisma-client"
        output = "./client"
      }
      datasource db {
        provider = "postgresql"
      }
      model credits {
        effect String @id
      }
    `,
  );
  // `generate` needs no engine, but downloads one unless it is named.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  const command = join('node_modules', 'prisma', 'build', 'index.js');
  run(process.execPath, [command, 'generate', '--schema', schema], { cwd: folder, env, timeout: 60_000 });
}

function handlerOf(mark: string): string {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm);
  const handler = [...blocks].map(([, code = '']) => code).find((code) => code.startsWith(mark));
  if (handler === undefined) throw new Error(`${page} has no program that begins with ${mark}.`);
  return handler;
}
