import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { InboxError } from '../../../src/errors/errors.ts';
import { type DefineInboxTest, deliveryOf, host, never } from './inbox-test-context.ts';

const unknown = '00'.repeat(32);

export function testDeadLetters(test: DefineInboxTest): void {
  test('a delivery that fails at every attempt is a dead letter; others pass it', async (context) => {
    const { open, durable, eventually } = context;
    const inbox = await open();
    const { send, calls, reports } = host(inbox, (id) => {
      if (id === 'poison') throw new Error('no such order');
    });
    void send(deliveryOf('poison'));
    for (const id of ['A', 'B', 'C']) await send(deliveryOf(id));
    await eventually(async () => equal((await inbox.deadLetters()).length, 1));
    // Without a store the sender tries again, and does not count.
    if (durable) equal(calls.filter((id) => id === 'poison').length, 3);
    await eventually(() => ok(['A', 'B', 'C'].every((id) => calls.includes(id))));
    await eventually(() =>
      deepEqual(
        reports.flatMap(({ outcome, attempt, digest }) => (outcome === 'dead' ? [[digest, attempt]] : [])),
        [[deliveryOf('poison').digest, 3]],
      ),
    );
    const [letter] = await inbox.deadLetters();
    equal(letter?.digest, deliveryOf('poison').digest);
    equal(letter?.name, 'event.buy.init');
    match(letter?.reason ?? '', /no such order/);
    ok(Math.abs(Date.now() - Number(letter?.receivedAt)) < 60_000);
    equal(letter?.body, undefined);
  });

  test('an event that cannot be read is a dead letter at the first attempt', async (context) => {
    if (!context.durable) return;
    const inbox = await context.open();
    const { receive, calls, reports } = host(inbox, () => {
      throw new InboxError('event_unrecognized', 'The authentic event "event.new" is no published event.');
    });
    await receive(deliveryOf('A'));
    await context.eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 1 }));
    deepEqual(calls, ['A']);
    await context.eventually(() =>
      deepEqual(
        reports.map(({ outcome }) => outcome),
        ['dead'],
      ),
    );
    match((await inbox.deadLetters())[0]?.reason ?? '', /"event.new" is no published event/);
  });

  test('a replayed dead letter has all its attempts again', async ({ open, durable, eventually }) => {
    if (!durable) return;
    const inbox = await open({ maxAttempts: 2 });
    const { receive, calls } = host(inbox, () => Promise.reject(new Error('no')));
    await receive(deliveryOf('A'));
    await eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 1 }));
    equal(calls.length, 2);
    equal(await inbox.replay(unknown), false);
    equal(await inbox.replay(deliveryOf('A').digest), true);
    await eventually(() => equal(calls.length, 4));
    await eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 1 }));
  });

  test('a dead letter that two replay at the same time is handled once', async (context) => {
    if (!context.durable) return;
    const inbox = await context.open({ maxAttempts: 1 });
    let broken = true;
    const { send, calls } = host(inbox, () => {
      if (broken) throw new Error('no');
    });
    await send(deliveryOf('A'));
    await context.eventually(async () => equal((await inbox.counts()).dead, 1));
    broken = false;
    const { digest } = deliveryOf('A');
    ok((await Promise.all([inbox.replay(digest), inbox.replay(digest)])).includes(true));
    await send(deliveryOf('B'));
    await context.eventually(() => deepEqual(calls.toSorted(), ['A', 'A', 'B']));
    await context.eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 0 }));
  });

  test('a discarded dead letter is gone, and its digest stays remembered', async (context) => {
    const { open, eventually, durable } = context;
    const inbox = await open({ maxAttempts: 1 });
    const { receive, send, calls } = host(inbox, () => Promise.reject(new Error('no')));
    await receive(deliveryOf('A')).catch(() => {});
    await eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 1 }));
    const { digest } = deliveryOf('A');
    equal(await inbox.discard(unknown), false);
    equal(await inbox.discard(digest), true);
    equal(await inbox.discard(digest), false);
    equal(await inbox.replay(digest), false);
    await eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 0 }));
    equal(await send(deliveryOf('A')), 'duplicate');
    equal(calls.length, 1);
    if (durable) deepEqual(await inbox.deadLetters(), []);
  });

  test('a dead letter is read by its digest, with its body when asked; nothing else is', async (context) => {
    const { open, eventually } = context;
    const inbox = await open({ maxAttempts: 1 });
    const { receive } = host(inbox, (id) => {
      if (id !== 'C') throw new Error(`no order ${id}`);
    });
    for (const id of ['A', 'B', 'C']) await receive(deliveryOf(id)).catch(() => {});
    await eventually(async () => deepEqual(await inbox.counts(), { open: 0, dead: 2 }));
    const listed = await inbox.deadLetters();
    deepEqual(listed.map(({ digest }) => digest).toSorted(), digestsOf('A', 'B'));
    for (const one of listed) {
      deepEqual(await inbox.deadLetter(one.digest), one);
      const { body } = deliveryOf(one.reason.endsWith('A') ? 'A' : 'B');
      deepEqual(await inbox.deadLetter(one.digest, { withBody: true }), { ...one, body });
    }
    equal(await inbox.deadLetter(deliveryOf('C').digest), undefined);
    equal(await inbox.deadLetter(unknown), undefined);
    equal((await inbox.deadLetters({ limit: 1 })).length, 1);
    const bodies = (await inbox.deadLetters({ withBody: true })).map(({ body }) => body);
    deepEqual(bodies.toSorted(), ['A', 'B'].map((id) => deliveryOf(id).body).toSorted());
  });

  test('what waits or is being handled is counted as open, and is no dead letter', async (context) => {
    if (!context.durable) return;
    const inbox = await context.open({ concurrency: 1 });
    const { receive, calls } = host(inbox, never);
    for (const id of ['A', 'B', 'C']) await receive(deliveryOf(id));
    await context.eventually(() => ok(calls.length > 0));
    deepEqual(await inbox.counts(), { open: 3, dead: 0 });
    deepEqual(await inbox.deadLetters(), []);
    for (const id of ['A', 'B']) equal(await inbox.discard(deliveryOf(id).digest), false);
  });
}

function digestsOf(...ids: readonly string[]): string[] {
  return ids.map((id) => deliveryOf(id).digest).toSorted();
}
