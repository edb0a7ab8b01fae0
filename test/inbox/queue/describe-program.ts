import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { PrivateServer } from '../../support/private-server.ts';
import { isThorough } from '../../support/repeat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { startProxy } from '../../support/tcp-proxy.ts';
import { awayMs, credentialVariables, isInCi, listensAnywhere, serveProgram } from '../served-program.ts';
import { type QueueProgram, queuePrograms } from './programs.ts';

/** Nine handlers of four seconds run one after the other in some of these. */
const patience = { timeout: 240_000, interval: 50 };
const postgres = inject('postgres');

/** What the tests of one program use. */
export type PreparedProgram = Awaited<ReturnType<typeof prepare>>;

/** @param isQuick with shorter times than are printed. @default unless the run is thorough */
export type Prepare = (
  replaced: Readonly<Record<string, string>>,
  isQuick?: boolean,
) => Promise<PreparedProgram>;

/** The example over a broker of its own, through every outage; and further tests of this program. */
export function describeProgram(file: string, further: (prepareWith: Prepare) => void): void {
  const program = queuePrograms.find((each) => each.file === file) ?? expect.unreachable(file);
  const missing =
    program.missing ?? (!program.isDatabase && 'missing' in postgres ? postgres.missing : undefined);
  describe.skipIf(missing !== undefined && !isInCi)(`the program ${file}`, () => {
    const folder = scratchFolder(afterAll);
    let broker: PrivateServer | undefined;
    const prepareWith: Prepare = (replaced, isQuick = !isThorough) =>
      prepare(program, broker ?? expect.unreachable('no broker'), { replaced, isQuick });

    beforeAll(async () => {
      broker = await program.start(folder);
    }, 90_000);
    afterAll(async () => {
      await broker?.stop();
    });

    it('handles all that it acknowledged, and makes no dead letter, through every outage', async () => {
      const { start, post, credited, deadLetters, broker, gate } = await prepareWith({});
      let child = await start();
      await post(20);
      await credited(20);

      await program.deleteQueues?.(broker.port);
      await post(20);
      await credited(40);

      const restarted = broker.restart();
      await post(20);
      await restarted;
      await credited(60);

      await post(40);
      gate.away();
      // real time: the store is away for so long.
      await sleep(awayMs);
      // Each of the ten messages that it holds is tried once a pause: no busy loop.
      expect(gate.refused).toBeLessThan((awayMs / 1_000) * 50);
      gate.back();
      await post(10);
      await credited(110);

      await post(40);
      await child.kill();
      child = await start();
      await credited(150);
      expect(await deadLetters()).toBe(0);
    }, 300_000);

    it('keeps an event that nobody can read for a person, also when that queue was deleted', async () => {
      const { start, post, credited, deadLetters, broker } = await prepareWith({});
      await start();
      // By then it waits for messages. NATS 2.9 breaks a stream that is made while it still deletes another of its name.
      await post(1);
      await credited(1);
      await program.deleteQueues?.(broker.port);
      await post(3, { event_name: 'event.of.tomorrow' });
      await vi.waitFor(async () => expect(await deadLetters()).toBe(3), patience);
    }, 120_000);

    further(prepareWith);
  });
}

/** The program over a broker and a database of its own. */
async function prepare(
  program: QueueProgram,
  broker: PrivateServer,
  { replaced, isQuick }: { replaced: Readonly<Record<string, string>>; isQuick: boolean },
) {
  // What an earlier test left there, if it left something.
  await program.deleteQueues?.(broker.port);
  const server = program.isDatabase
    ? `postgres://postgres@127.0.0.1:${broker.port}/postgres`
    : 'url' in postgres
      ? postgres.url
      : expect.unreachable(postgres.missing);
  const database = await makeDatabase(server);
  const gate = await startProxy(Number(database.port || 5432), database.hostname);
  onTestFinished(() => gate.close());
  const throughGate = new URL(database);
  throughGate.host = `127.0.0.1:${gate.port}`;
  const pool = new pg.Pool({ connectionString: database.href, max: 1 });
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  const service = serveProgram({
    page: program.file,
    env: { ...program.env(broker.port), DATABASE_URL: throughGate.href, ...credentialVariables },
    replaced: {
      ...listensAnywhere,
      // A handler that takes a moment, so that an outage meets some of them.
      'credited VALUES ($1, $2)': 'credited SELECT $1::text, $2::text FROM pg_sleep(0.02)',
      ...(isQuick && program.quicker),
      ...replaced,
    },
  });
  return {
    ...service,
    broker,
    gate,
    deadLetters: () => program.deadLetters(broker.port, database.href),
    leftovers: async () => await program.leftovers?.(broker.port, database.href),
    credited: (count: number) =>
      vi.waitFor(async () => {
        const { rows } = await pool.query('SELECT count(*)::int AS credits FROM credited');
        expect(rows).toEqual([{ credits: count }]);
      }, patience),
  };
}

async function makeDatabase(server: string): Promise<URL> {
  const url = new URL(server);
  const name = `programs_${Math.random().toString(36).slice(2)}`;
  const client = new pg.Client(url.href);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  url.pathname = `/${name}`;
  return url;
}
