import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../src/internal/backoff.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderJournal } from '../../src/orders/journal-types.ts';
import { order } from '../orders/service.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery } from '../webhooks/deliveries.ts';
import {
  type InboxEngine,
  isDearer,
  isElsewhere,
  isPoison,
  openEffects,
  openInbox,
  openJournal,
  type Place,
  startEngine,
} from './crash-engine.ts';
import { until } from './run-store-crash.ts';
import { type SupervisedProcess, supervise } from './supervised-process.ts';

export interface CrashOptions {
  readonly engine: InboxEngine;
  readonly rounds: number;
  /** Events of a round, each posted to both receivers at once. */
  readonly events: number;
  /** Post an event whose handler kills its process, among the others of the first round and every so many more. */
  readonly poisonEvery: number;
  /** Kill and start the engine too, every so many rounds. */
  readonly restartEvery?: number | undefined;
}

export interface CrashFigures {
  readonly engine: InboxEngine;
  readonly rounds: number;
  /** By us; not those that an event killed. */
  readonly processesKilled: number;
  readonly engineRestarts: number;
  readonly requests: number;
  readonly eventsAcknowledged: number;
  readonly eventsHandled: number;
  readonly handlerRuns: number;
  readonly runsRepeated: number;
  /** Acknowledged, and no effect. */
  readonly lost: number;
  /** With an effect more than once. */
  readonly doubled: number;
  /** Events whose handler kills its process. */
  readonly poisonous: number;
  /** Of these, dead letters for `lease_lost`. */
  readonly poisonousDead: number;
  /** Dead letters that should have been handled. */
  readonly othersDead: number;
  /** Events that contradict their orders: another address, which no handler may act on, or another amount. */
  readonly contradicting: number;
  /** Of these, found by `reconcile`. */
  readonly contradictingFound: number;
  /** Found by it, and honest. */
  readonly falselyFound: number;
  /** Events with another address that had an effect. */
  readonly actedOnElsewhere: number;
  readonly seconds: number;
}

interface Child extends SupervisedProcess {
  readonly role: 'receiver' | 'worker';
  /** Absent while none runs that listens. */
  port?: number | undefined;
}

const settleTimeoutMs = 120_000;
/** A dead letter takes five processes, each of which has to start. */
const deathTimeoutMs = 120_000;

/** Kills receivers and workers at random while deliveries come in twice, and counts what became of these. */
export async function runCrash(options: CrashOptions): Promise<CrashFigures> {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const { place, server } = await startEngine(options.engine, folder);
  const effects = openEffects(place);
  const inbox = await openInbox(place, 'receiver');
  // Its tables are there before the children race for them.
  await until(
    () =>
      inbox.counts().then(
        () => true,
        () => false,
      ),
    30_000,
  );
  const { journal, close: closeJournal } = openJournal(place);
  const children = (['receiver', 'receiver', 'worker'] as const).map((role) => start(role, place));
  const receivers = children.filter(({ role }) => role === 'receiver');
  const acknowledged = new Set<string>();
  const poisonous = new Set<string>();
  const elsewhere = new Set<string>();
  let [requests, processesKilled, engineRestarts] = [0, 0, 0];
  let ending = false;

  /** Posts until it is acknowledged, to whichever receiver is there. */
  async function post(order: string, first: number): Promise<void> {
    const body = delivery(buyInitBody({ partner_order_id: order, ...contradictionOf(order) }));
    for (let turn = first; !ending; turn++) {
      const port = receivers[turn % receivers.length]?.port;
      requests++;
      if (port !== undefined && (await isAcknowledged(port, body))) {
        (isPoison(order) ? poisonous : isElsewhere(order) ? elsewhere : acknowledged).add(order);
        return;
      }
      await sleep(20);
    }
  }

  try {
    await until(() => children.every(({ port }) => port !== undefined), settleTimeoutMs);
    for (let round = 1; round <= options.rounds; round++) {
      const orders = Array.from({ length: options.events }, (_, index) =>
        index === 5 ? `dearer of round ${round}` : `round ${round} event ${index}`,
      );
      orders.push(`elsewhere of round ${round}`);
      for (const partner_order_id of orders) {
        const { error } = await journal.create({ ...order, partner_order_id });
        if (error !== undefined) throw error;
      }
      if (round % options.poisonEvery === 1) orders.splice(orders.length / 2, 0, `poison of round ${round}`);
      const posts = orders.flatMap((order) => [post(order, 0), post(order, 1)]);
      // The worker as often as both receivers; and not while it is still starting.
      const victim = children[[0, 1, 2, 2][Math.floor(Math.random() * 4)] ?? 2];
      if (victim !== undefined) {
        await until(() => victim.port !== undefined, settleTimeoutMs);
        await sleep(Math.random() * 120);
        victim.port = undefined;
        victim.kill();
        processesKilled++;
      }
      if (server !== undefined && options.restartEvery && round % options.restartEvery === 0) {
        await server.restart();
        engineRestarts++;
      }
      await within(Promise.all(posts), settleTimeoutMs, `round ${round} to be acknowledged`);
    }
    // Everything that was acknowledged has its effect, or never will; and what cannot be handled is a dead letter.
    await until(
      async () => {
        const present = effects.readEffects();
        const { dead } = await inbox.counts().catch(() => ({ dead: 0 }));
        const isSeen = async (id: string) => (await journal.get(id))?.attention !== undefined;
        const seen = await Promise.all([...elsewhere].map(isSeen));
        const known = [...acknowledged].every((order) => present.has(order)) && seen.every(Boolean);
        return known && dead >= poisonous.size + elsewhere.size;
      },
      settleTimeoutMs + poisonous.size * deathTimeoutMs,
    ).catch(() => {});
    // Time for what is done a second time.
    await sleep(300);
    const [byOrder, calls] = [effects.readEffects(), effects.readCalls()];
    const dead = await inbox.deadLetters({ limit: 10_000, withBody: true });
    const contradicting = [...elsewhere, ...acknowledged].filter(
      (order) => contradictionOf(order) !== undefined,
    );
    const found = await findMismatches(journal);
    const poisonousDead = dead.filter(({ body = '', reason }) => /"poison/.test(body) && /lost/.test(reason));
    const handlerRuns = [...calls.values()].reduce((sum, times) => sum + times, 0);
    return {
      engine: options.engine,
      rounds: options.rounds,
      processesKilled,
      engineRestarts,
      requests,
      eventsAcknowledged: acknowledged.size,
      eventsHandled: byOrder.size,
      handlerRuns,
      runsRepeated: handlerRuns - calls.size,
      lost: [...acknowledged].filter((order) => !byOrder.has(order)).length,
      doubled: [...byOrder.values()].filter((times) => times !== 1).length,
      poisonous: poisonous.size,
      poisonousDead: poisonousDead.length,
      othersDead: dead.length - poisonousDead.length - elsewhere.size,
      contradicting: contradicting.length,
      contradictingFound: contradicting.filter((order) => found.has(order)).length,
      falselyFound: [...found].filter((order) => !contradicting.includes(order)).length,
      actedOnElsewhere: [...elsewhere].filter((order) => byOrder.has(order)).length,
      seconds: Math.round((performance.now() - begun) / 1000),
    };
  } finally {
    ending = true;
    await Promise.all(children.map((child) => child.end()));
    await inbox.stop();
    effects.close();
    await closeJournal();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the event of an order says in place of what was ordered. */
function contradictionOf(id: string): JsonObject | undefined {
  if (isElsewhere(id)) return { buyer_crypto_address: 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2' };
  return isDearer(id) ? { fiat_amount_to_pay: 15_100.5 } : undefined;
}

async function findMismatches(journal: OrderJournal): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { kind, partner_order_id: id } of journal.reconcile({ since: 0 }))
    if (kind === (isDearer(id) ? 'amount_differs' : 'mismatch')) found.add(id);
  return found;
}

function start(role: Child['role'], place: Place): Child {
  const file = join(import.meta.dirname, 'child.ts');
  const process = supervise<{ port: number }>(file, [JSON.stringify({ role, place })], {
    onMessage: ({ port }) => {
      child.port = port;
    },
    onExit: () => {
      child.port = undefined;
    },
  });
  const child: Child = { role, ...process };
  return child;
}

async function isAcknowledged(port: number, body: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(5_000),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function within(work: Promise<unknown>, timeoutMs: number, what: string): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited in vain for ${what}.`)), timeoutMs);
  });
  await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
