import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventBody } from '../../src/devtools/testing/event-body.ts';
import { signedDelivery } from '../../src/devtools/testing/signed-delivery.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { root } from '../../tools/checks/entries.ts';
import { type SnippetRun, startSnippet } from '../support/doc-snippets.ts';
import { startOwnPostgres, startOwnRedis } from '../support/own-server.ts';
import { missingForPostgres, missingForRedis, type PrivateServer } from '../support/private-server.ts';
import { isThorough } from '../support/repeat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startGate } from '../support/tcp-gate.ts';

/*
 * The programs of the pages that keep events in a store or an engine, as they are printed, through outages. Those of
 * brokers are in queue/. The everyday run shortens the outages and the time limit, which the pages show as an option.
 */

const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};
const awayMs = isThorough ? 10_000 : 2_500;
const patience = { timeout: isThorough ? 240_000 : 40_000, interval: 50 };
/** A lease of a killed program lasts as long, and 5 seconds. The thorough run waits for those of the pages. */
const quickly = isThorough ? '' : 'timeLimitMs: 1_500,';
const isInCi = process.env.CI === 'true' || process.env.CI === '1';

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

/** A service that posts each event until it is told 200, to a program that can be killed and started again. */
function makeService(run: Omit<SnippetRun, 'folder'>, folder = scratchFolder()) {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  let posted = 0;
  let port = '';
  let isRunning = false;
  let printed = '';
  const lines: string[] = [];

  function nextDelivery() {
    const event = eventBody('event.buy.credited.crypto', { partner_order_id: `A-${++posted}` });
    return signedDelivery(event, { credentials });
  }

  async function postOnce({ headers, body } = nextDelivery()): Promise<number | undefined> {
    const request = { method: 'POST', headers, body };
    const reply = await fetch(`http://127.0.0.1:${port}/orders`, request).catch(() => undefined);
    await reply?.arrayBuffer();
    return reply?.status;
  }

  async function postOne(): Promise<void> {
    const delivery = nextDelivery();
    for (let tries = 0; tries < 240; tries++) {
      if ((await postOnce(delivery)) === 200) return;
      if (!isRunning) expect.unreachable(`the program ended: ${printed.slice(-3_000)}`);
      // Its own tries are not to look like a busy loop.
      // real time: looks again until it is there.
      await sleep(500);
    }
    expect.unreachable(`never answered 200: ${printed.slice(-3_000)}`);
  }

  return {
    folder,
    lines,
    async start() {
      const child = startSnippet({ ...run, folder, stderr: 'pipe' });
      isRunning = true;
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      child.once('exit', () => {
        isRunning = false;
      });
      const { promise, resolve } = Promise.withResolvers<string>();
      createInterface({ input: child.stdout ?? expect.unreachable() }).on('line', (line) => {
        // Deliveries that were kept may be handled before it listens.
        if (/^\d+$/.test(line)) resolve(line);
        else lines.push(line);
      });
      port = await Promise.race([promise, once(child, 'exit').then(() => expect.unreachable(printed))]);
      const kill = async () => {
        if (!isRunning) return;
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      };
      onTestFinished(kill);
      return { kill };
    },
    postOnce: () => postOnce(),
    post: (count: number) => Promise.all(Array.from({ length: count }, postOne)),
    counts: async () => await (await fetch(`http://127.0.0.1:${port}/`)).json(),
    /** The orders that `credit` was called with. */
    seen(): number {
      const file = join(folder, 'credited.txt');
      return existsSync(file) ? new Set(readFileSync(file, 'utf8').trim().split('\n')).size : 0;
    },
  };
}

interface Outages {
  readonly service: Pick<ReturnType<typeof makeService>, 'start' | 'post' | 'postOnce'>;
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
  const gate = await startGate({ host: '127.0.0.1', port: server.port });
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
      const service = makeService({
        page: 'docs/guides/inboxes.md',
        mark: 'everyMinute',
        env: {
          PGHOST: '127.0.0.1',
          PGPORT: String(database.port),
          PGUSER: 'postgres',
          PGDATABASE: 'postgres',
        },
        replaced: {
          ...drainedByASchedule,
        },
      });
      const dead = async () => (await service.counts()).dead;
      const wipe = () => runSql(database.direct, 'DROP TABLE partner_exchange_records');
      await goThrough({ service, credited: service.seen, dead, wipe, ...database });
    },
    300_000,
  );

  unlessMissing(missingForRedis())(
    'storeInbox on Redis, drained by a schedule',
    async () => {
      const redis = await startGated(startOwnRedis());
      const service = makeService({
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
      const dead = async () => (await service.counts()).dead;
      const wipe = () => flush(redis.direct);
      await goThrough({ service, credited: service.seen, dead, wipe, refusesWiped: true, ...redis });
    },
    300_000,
  );

  it.each(['receive-events.md', 'production.md'])(
    'sqliteInbox of %s, whose file another process holds',
    async (page) => {
      const service = makeService({
        page: `docs/guides/${page}`,
        env: {
          PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
          PARTNER_SECRET_KEY: credentials.partnerSecretKey,
          MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
        },
        replaced: {
          'listen(3000)': "listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
          "path: 'inbox.sqlite'": `${quickly} path: 'inbox.sqlite'`,
          ...(page === 'production.md' && { 'listen(9464,': 'listen(0,' }),
        },
      });
      const path = join(service.folder, 'inbox.sqlite');
      const holder = () => fork(join(import.meta.dirname, '../support/lock-holder.ts'), [path]);
      let held: ReturnType<typeof holder> | undefined;
      onTestFinished(() => void held?.kill());
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
        async away() {
          held = holder();
          await once(held, 'message');
          held.send('hold');
          await once(held, 'message');
        },
        back: () => held?.kill(),
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

/** In the shop of receive-events: a program that is killed after its effect does not print it. */
function creditsIn(folder: string): number {
  using shop = new DatabaseSync(join(folder, 'shop.sqlite'));
  return Number(shop.prepare('SELECT count(*) AS credits FROM credited').get()?.credits);
}
