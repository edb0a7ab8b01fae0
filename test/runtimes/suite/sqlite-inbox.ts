import { isInboxError } from 'partner-exchange-sdk/inbox';
import { type Checks, equal, thrownBy } from './checks.ts';
import { delivery, receiverOn, until } from './fixtures.ts';

/** `node:sqlite` works here, and the inbox with it. */
export async function checkSqliteInbox(checks: Checks, folder: string): Promise<void> {
  await checks.run('sqliteInbox stores a delivery, and handles it once', async () => {
    const { inbox, webhooks, calls } = await open(`${folder}/once.sqlite`);
    equal((await webhooks.receive(delivery())).kind, 'stored');
    equal((await webhooks.receive(delivery())).kind, 'duplicate');
    await until('handled', async () => (await inbox.counts()).open === 0);
    equal((await webhooks.receive(delivery())).kind, 'duplicate');
    equal(calls, ['A-1001']);
    equal(await inbox.stop(), 'drained');
  });
  await checks.run('sqliteInbox gives up in the end, and replays a dead letter', async () => {
    const { inbox, webhooks, calls, failing } = await open(`${folder}/dead.sqlite`);
    failing.add('A-1001');
    await webhooks.receive(delivery());
    await until('dead', async () => (await inbox.counts()).dead === 1);
    const [letter] = await inbox.deadLetters();
    equal([letter?.attempts, letter?.name, letter?.reason], [2, 'event.buy.init', 'Error: down']);
    failing.clear();
    equal(await inbox.replay(letter?.digest ?? ''), true);
    await until('handled', () => calls.length === 3);
    await until('empty', async () => JSON.stringify(await inbox.counts()) === '{"open":0,"dead":0}');
    equal(await inbox.stop(), 'drained');
  });
  await checks.run('sqliteInbox handles after it is opened again what was stored before', async () => {
    const path = `${folder}/again.sqlite`;
    const first = await open(path, 'receiver');
    for (const id of ['A', 'B']) {
      equal((await first.webhooks.receive(delivery({ partner_order_id: id }))).kind, 'stored');
    }
    equal(await first.inbox.stop(), 'drained');
    equal((await first.webhooks.receive(delivery({ partner_order_id: 'C' }))).status, 503);
    const second = await open(path);
    equal((await second.webhooks.receive(delivery({ partner_order_id: 'B' }))).kind, 'duplicate');
    await until('handled', () => second.calls.length === 2);
    equal(second.calls.toSorted(), ['A', 'B']);
    equal(await second.inbox.stop(), 'drained');
  });
}

/** Without `node:sqlite` it is said what is missing, and only where it is needed. */
export async function checkNoSqlite(checks: Checks): Promise<void> {
  await checks.run('./inbox/sqlite fails where there is no node:sqlite', async () => {
    const error = await thrownBy(async () => {
      const { sqliteInbox } = await import('partner-exchange-sdk/inbox');
      sqliteInbox({ path: 'inbox.sqlite' });
    });
    // workerd has a module of that name in which nothing works.
    if (!isInboxError(error)) equal(String(error).includes('node:sqlite') || String(error), true);
    else equal(error.code, 'store_unavailable');
    checks.note('no node:sqlite');
  });
}

async function open(path: string, role: 'both' | 'receiver' = 'both') {
  // Only here: it cannot be loaded everywhere.
  const { sqliteInbox } = await import('partner-exchange-sdk/inbox');
  const inbox = sqliteInbox({
    path,
    role,
    maxAttempts: 2,
    retry: { firstDelayMs: 50, maxDelayMs: 50 },
    pollMs: 10,
  });
  return receiverOn(inbox);
}
