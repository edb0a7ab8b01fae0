import { memoryInbox } from 'partner-exchange-sdk/inbox';
import { type Checks, equal } from './checks.ts';
import { delivery, receiverOn } from './fixtures.ts';

const text = delivery();

export async function checkMemoryInbox(checks: Checks): Promise<void> {
  await checks.run('memoryInbox handles a delivery once', async () => {
    const { webhooks, calls } = receiver();
    equal((await webhooks.receive(text)).kind, 'handled');
    equal((await webhooks.receive(text)).kind, 'duplicate');
    equal(calls.length, 1);
  });
  await checks.run('memoryInbox keeps what fails as a dead letter, and replays it', async () => {
    const { inbox, webhooks, calls, failing } = receiver();
    failing.add('A-1001');
    for (const _ of ['first', 'second']) equal((await webhooks.receive(text)).status, 500);
    const [letter] = await inbox.deadLetters();
    equal([letter?.attempts, letter?.name], [2, 'event.buy.init']);
    failing.clear();
    equal(await inbox.replay(letter?.digest ?? ''), true);
    equal(await inbox.counts(), { open: 0, dead: 0 });
    equal((await webhooks.receive(text)).kind, 'duplicate');
    equal(calls.length, 3);
  });
  await checks.run('memoryInbox takes nothing more once it is stopped', async () => {
    const { inbox, webhooks } = receiver();
    equal(await inbox.stop(), 'drained');
    equal((await webhooks.receive(text)).status, 503);
  });
}

function receiver() {
  return receiverOn(memoryInbox({ maxAttempts: 2 }));
}
