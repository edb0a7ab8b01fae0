import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { startOwnPostgres, startOwnRedis } from '../support/own-server.ts';
import { missingForPostgres, missingForRedis, type PrivateServer } from '../support/private-server.ts';
import { isThorough } from '../support/repeat.ts';
import { startProxy } from '../support/tcp-proxy.ts';
import {
  awayMs,
  credentials,
  credentialVariables,
  isInCi,
  listensAnywhere,
  serveProgram,
} from './served-program.ts';

/*
 * The programs of the pages that keep events in a store or an engine, as they are printed, through outages. Those of
 * brokers are in queue/. The everyday run shortens the outages and the time limit, which the pages show as an option.
 */

const patience = { timeout: isThorough ? 240_000 : 40_000, interval: 50 };
/** A lease of a killed program lasts as long, and 5 seconds. The thorough run waits for those of the pages. */
const quickly = isThorough ? '' : 'timeLimitMs: 1_500,';

/** Serves a page's program, and says which orders its handlers have seen. */
const serving = `
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
async function credit(orderId: string) {
  await pause(20);
  appendFileSync('credited.txt', orderId + '\\n');
}
function serve(receive: (request: Request) => Promise<Response>, inbox: { counts(): Promise<object> }) {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return response.end(JSON.stringify(await inbox.counts()));
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const answer = await receive(new Request('http://partner.example/orders', { method: 'POST', body }));
    return response.writeHead(answer.status).end();
  }).listen(0, '127.0.0.1', () => console.log(Object(server.address()).port));
}
`;

/** Completes the program of the page that drains by a schedule. */
const drainedByASchedule = {
  'declare const credentials: PartnerCredentials;': `const credentials: PartnerCredentials = ${JSON.stringify(credentials)};`,
  'declare function applyOnce(effect: string | undefined, orderId: string): Promise<void>;':
    'const applyOnce = (_effect: string | undefined, orderId: string) => credit(orderId);',
  ...(!isThorough && { 'timeLimitMs: 10_000': 'timeLimitMs: 1_500' }),
  '  return response;\n}\n': `  return response;\n}\n${serving}
    serve(receive, inbox);
    for (;;) {
      await everyMinute().catch((error) => console.error(error.message));
      await pause(200);
    }`,
};

interface Outages {
  readonly service: Pick<ReturnType<typeof serveProgram>, 'start' | 'post' | 'postOnce'>;
  /** How many orders were credited. */
  readonly credited: () => number | Promise<number>;
  readonly dead: () => Promise<number>;
  /** Deletes the table, queue, keys or file in which the program keeps events. */
  readonly wipe: () => unknown;
  /** Whether the program then acknowledges nothing until it is started again. */
  readonly refusesWiped?: boolean;
  readonly away: () => unknown;
  readonly back: () => unknown;
  readonly restart?: () => Promise<void>;
}

/** Posts events through each outage: all that was acknowledged is handled, and none is a dead letter. */
async function goThrough({
  service,
  credited,
  dead,
  wipe,
  refusesWiped = false,
  away,
  back,
  restart,
}: Outages): Promise<void> {
  const expectCredited = (count: number) =>
    vi.waitFor(async () => expect(await credited()).toBe(count), patience);
  const { start, post } = service;
  let child = await start();
  await post(20);
  await expectCredited(20);

  await wipe();
  if (refusesWiped) {
    expect(await service.postOnce()).toBe(503);
    await child.kill();
    child = await start();
  }
  await post(20);
  await expectCredited(40);

  await post(20);
  await away();
  const posting = post(10);
  // real time: its engine is away for so long.
  await sleep(awayMs);
  await back();
  await posting;
  await expectCredited(70);

  const restarted = restart?.();
  await post(20);
  await restarted;
  await expectCredited(90);

  await post(20);
  await child.kill();
  child = await start();
  await expectCredited(110);
  expect(await dead()).toBe(0);
}

async function startGated(starting: Promise<PrivateServer>) {
  const server = await starting;
  const gate = await startProxy(server.port);
  onTestFinished(() => gate.close());
  return {
    port: gate.port,
    /** Past the gate. */
    direct: server.port,
    away: () => gate.away(),
    back() {
      gate.back();
      // Connections were tried, with pauses.
      expect(gate.refused).toBeLessThan((awayMs / 1_000) * 50);
    },
    restart: () => server.restart(),
  };
}

const unlessMissing = (missing: string | undefined) => it.skipIf(missing !== undefined && !isInCi);

describe('a program of a page handles all that it acknowledged, and makes no dead letter, while its store is emptied, away or restarted and it is killed', () => {
  unlessMissing(missingForPostgres())(
    'storeInbox on PostgreSQL, drained by a schedule',
    async () => {
      const database = await startGated(startOwnPostgres());
      const service = serveProgram({
        page: 'docs/guides/inboxes.md',
        mark: 'everyMinute',
        env: {
          PGHOST: '127.0.0.1',
          PGPORT: String(database.port),
          PGUSER: 'postgres',
          PGDATABASE: 'postgres',
        },
        replaced: drainedByASchedule,
      });
      const dead = async () => (await service.get()).dead;
      const wipe = () => runSql(database.direct, 'DROP TABLE partner_exchange_records');
      await goThrough({ service, credited: () => seenIn(service.folder), dead, wipe, ...database });
    },
    300_000,
  );

  unlessMissing(missingForRedis())(
    'storeInbox on Redis, drained by a schedule',
    async () => {
      const redis = await startGated(startOwnRedis());
      const service = serveProgram({
        page: 'docs/guides/inboxes.md',
        mark: 'everyMinute',
        replaced: {
          "import { Pool } from 'pg';": "import { Redis } from 'ioredis';",
          "import { postgresStore } from 'partner-exchange-sdk/store';":
            "import { redisStore } from 'partner-exchange-sdk/store';",
          'const pool = new Pool();': `const client = new Redis('redis://127.0.0.1:${redis.port}');`,
          "pool.on('error'": "client.on('error'",
          'postgresStore({ client: pool })': 'redisStore({ client })',
          ...drainedByASchedule,
        },
      });
      const dead = async () => (await service.get()).dead;
      const wipe = () => flush(redis.direct);
      await goThrough({
        service,
        credited: () => seenIn(service.folder),
        dead,
        wipe,
        refusesWiped: true,
        ...redis,
      });
    },
    300_000,
  );

  it.each(['receive-events.md', 'production.md'])(
    'sqliteInbox of %s, whose file another process holds',
    async (page) => {
      const service = serveProgram({
        page: `docs/guides/${page}`,
        env: credentialVariables,
        replaced: {
          ...listensAnywhere,
          "path: 'inbox.sqlite'": `${quickly} path: 'inbox.sqlite'`,
          ...(page === 'production.md' && { 'listen(9464,': 'listen(0,' }),
        },
      });
      const path = join(service.folder, 'inbox.sqlite');
      let other: DatabaseSync | undefined;
      await goThrough({
        service,
        credited: () => (page === 'production.md' ? new Set(service.lines).size : creditsIn(service.folder)),
        async dead() {
          const inbox = sqliteInbox({ path, role: 'receiver' });
          return (await inbox.counts().finally(() => inbox.stop())).dead;
        },
        wipe() {
          for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
        },
        refusesWiped: true,
        away() {
          other = new DatabaseSync(path, { timeout: 5_000 });
          other.exec('BEGIN IMMEDIATE');
        },
        back: () => other?.close(),
      });
    },
    300_000,
  );
});

async function runSql(port: number, statement: string): Promise<void> {
  const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`);
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function flush(port: number): Promise<void> {
  const client = new Redis(port);
  await client.flushall();
  client.disconnect();
}

/** The orders that `credit` was called with. */
function seenIn(folder: string): number {
  const file = join(folder, 'credited.txt');
  return existsSync(file) ? new Set(readFileSync(file, 'utf8').trim().split('\n')).size : 0;
}

/** In the shop of receive-events: a program that is killed after its effect does not print it. */
function creditsIn(folder: string): number {
  using shop = new DatabaseSync(join(folder, 'shop.sqlite'));
  return Number(shop.prepare('SELECT count(*) AS credits FROM credited').get()?.credits);
}
