import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { seededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { faultsAt, planFaults } from '../support/fault-rates.ts';
import type { OrderProcess, Report } from './order-process.ts';

/**
 * Two processes create the same orders at the same time, over one SQLite file, against a sandbox on which 30 % of the
 * replies are lost and 10 % are server errors although it has acted. Events come early, twice, and out of order, and are
 * received by this process. Every so often one of the processes is killed, and another begins with all orders anew.
 */
export async function runOrders({
  orders,
  kills,
  seed,
}: {
  readonly orders: number;
  readonly kills: number;
  readonly seed: number;
}) {
  const folder = mkdtempSync(join(tmpdir(), 'run-orders-'));
  const path = join(folder, 'orders.sqlite');
  let webhooks: Webhooks | undefined;
  const sandbox = createSandbox({
    seed,
    whitelist: 'off',
    duplicateOrders: 'second',
    fetch: async (input, init) =>
      (await webhooks?.fetch(new Request(input, init))) ?? new Response(null, { status: 404 }),
  });
  const server = await sandbox.listen();
  const { deployment } = server;
  await new ExchangeClient({ deployment }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
  const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  planFaults(sandbox.faults, [
    ...faultsAt('createOrder', {
      reply_lost: 0.15,
      reset: { rate: 0.15, when: 'after' },
      truncate: { rate: 0.05, when: 'after' },
      server_error: { rate: 0.1, when: 'after' },
      html: { rate: 0.05, when: 'before' },
    }),
    ...faultsAt('event', {
      duplicate: 0.3,
      concurrent_duplicate: 0.2,
      before_reply: 0.3,
      reorder: 0.2,
      forged: 0.1,
    }),
  ]);
  const requests = new Map<string, number>();
  const faults = new Map<string, number>();
  sandbox.trace.subscribe((entry) => {
    for (const fault of entry.faults) add(faults, `${entry.kind} ${fault}`);
    if (entry.kind !== 'request' || entry.operation !== 'createOrder') return;
    const { partner_order_id } = JSON.parse(entry.body ?? '{}');
    add(requests, String(partner_order_id));
  });

  const store = sqliteStore({ path });
  const journal = createOrderJournal({ exchange: new ExchangeClient({ deployment, credentials }), store });
  webhooks = createWebhooks({ credentials, deployment, onRefused: () => {} }).onAny(journal.observe);

  const ids = Array.from({ length: orders }, (_, index) => `A-${index}`);
  const reports: Report[] = [];
  let killed = 0;
  const dice = seededRandom(String(seed), 'orders');
  const random = () => dice.fraction();
  const killEvery = Math.ceil((orders * 2) / (kills + 1));
  const startOne = async (): Promise<void> => {
    for (;;) {
      const task: OrderProcess = {
        ...{ credentials, path, concurrency: 16, leaseMs: 1000, ids: shuffled(ids, random) },
        onboardingBaseUrl: deployment.onboardingBaseUrl,
      };
      const child = fork(join(import.meta.dirname, 'order-process.ts'), [JSON.stringify(task)], {
        execArgv: ['--disable-warning=ExperimentalWarning'],
      });
      if (await finished(child)) return;
    }
  };
  const finished = async (child: ChildProcess): Promise<boolean> => {
    let isDone = false;
    child.on('message', (message) => {
      if (message === 'done') isDone = true;
      // Sound: it is what our own process sends.
      else reports.push(message as Report);
      // Messages of a process that is done or dying may still arrive.
      if (isDone || child.killed || killed === kills) return;
      if (reports.length >= (killed + 1) * killEvery && child.kill('SIGKILL')) killed++;
    });
    const [code, signal] = await once(child, 'exit');
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`A process ended with ${code ?? signal}.`);
    return isDone;
  };
  await Promise.all([startOne(), startOne()]);
  await sandbox.idle();

  const has = new Set(sandbox.orders.map(({ partner_order_id }) => partner_order_id));
  const settledBy = new Map<string, number>();
  let notSettled = 0;
  let wronglySettled = 0;
  const exchange = new ExchangeClient({ deployment, credentials });
  const afterAllLeases = createOrderJournal({ exchange, store, now: () => Date.now() + 1_000_000 });
  for (const id of ids) {
    const known = await afterAllLeases.get(id);
    if (has.has(id)) {
      if (known?.state !== 'accepted') notSettled++;
      add(settledBy, known?.evidence ?? 'nothing');
    } else if (known?.state !== 'unknown' && known?.state !== 'not-sent') wronglySettled++;
  }
  const isWrong = ({ id, said }: Report) => {
    if (said === 'accepted') return !has.has(id);
    // After a lease that ended too early the other process sends the order, and says so.
    if (said === 'not-sent' && reports.some((other) => other.id === id && other.said !== said)) return false;
    return ['refused', 'not-sent'].includes(said) && has.has(id);
  };
  const said = new Map<string, number>();
  for (const report of reports) add(said, report.said);
  await server.close();
  await sandbox.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  const faulty = (...names: string[]) =>
    names.reduce((sum, name) => sum + (faults.get(`request ${name}`) ?? faults.get(`reply ${name}`) ?? 0), 0);
  return {
    orders,
    killed,
    // Requests for an order that came to the service.
    requests: [...requests.values()].reduce((sum, count) => sum + count, 0),
    lostReplies: faulty('reply_lost', 'reset', 'truncate'),
    serverErrorsAfterActing: faulty('server_error'),
    // How often the processes were told each thing, and what settled the orders that the service has.
    said: Object.fromEntries(said),
    settledBy: Object.fromEntries(settledBy),
    // A second request for an order: the service makes a second order of it.
    madeTwice: sandbox.orders.length - has.size,
    sentTwice: [...requests.values()].filter((count) => count > 1).length,
    // Reports that the service's own state denies.
    reportedWrongly: reports.filter(isWrong).length,
    // The service has them, and the journal does not count them as accepted after all events; or the other way round.
    notSettled,
    wronglySettled,
  };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
