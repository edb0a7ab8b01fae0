import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { isThorough } from '../support/repeat.ts';
import { delivery, gate, quietWebhooks } from '../webhooks/deliveries.ts';
import { warningsDuring } from '../webhooks/warnings.ts';
import { type Engine, engines, type Store } from './engines.ts';
import { eventually, order, quick, receiver } from './receiver.ts';

/** The contract of a store makes inboxes over other stores alike: `npm run prove` tries all. */
const everyday = ['memory', 'memory store'];
const inContinuousIntegration = process.env.CI === 'true' || process.env.CI === '1';
const unknown = '00'.repeat(32);
const never = () => new Promise(() => {});

for (const engine of engines.filter(({ name }) => isThorough || everyday.includes(name))) {
  const { missing } = engine;
  describe(`the ${engine.name} inbox`, () => {
    if (missing === undefined) {
      afterAll(() => engine.remove());
      describeEach(engine);
      if (engine.durable) describeDurable(engine);
    } else if (inContinuousIntegration) {
      it('is tested', () => {
        throw new Error(`In CI every engine is tested, and there is no ${missing}.`);
      });
    }
    // The name says what is missing: without Redis or PostgreSQL the rest must still pass.
    else it.skip(`skipped: there is no ${missing}`, () => {});
  });
}

/** Opens inboxes on one empty store of the engine: each is as good as a process of its own. */
async function openStore(engine: Engine): Promise<Store['inbox']> {
  const store = await engine.open();
  onTestFinished(() => store.close());
  return (options) => store.inbox({ ...quick, ...options });
}

async function isDead(inbox: ManagedInbox, dead = 1): Promise<void> {
  await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead }));
}

/** What every inbox promises. */
function describeEach(engine: Engine): void {
  const { durable } = engine;

  it('takes a repetition for a duplicate, before the delivery is handled and long after', async () => {
    const open = await openStore(engine);
    const [begun, end] = [gate(), gate()];
    const { webhooks, send, calls } = receiver(open(), async () => {
      begun.open();
      await end.opened;
    });
    const first = webhooks.receive(order('A'));
    await begun.opened;
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: durable ? 'duplicate' : 'busy' });
    end.open();
    expect(await first).toMatchObject({ kind: durable ? 'stored' : 'handled', status: 200 });
    expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' });
    await send(order('B'));
    await eventually(() => expect(calls).toEqual(['A', 'B']));
  });

  it('handles one of 50 repetitions that come at once, and acknowledges all in the end', async () => {
    const open = await openStore(engine);
    const { send, calls } = receiver(open());
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => send(order('A'))));
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
    await send(order('B'));
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'B']));
  });

  it.each<[string, () => unknown]>([
    ['an error', () => new Error('down')],
    ['undefined', () => undefined],
    ['something that cannot be printed', () => Object.create(null)],
  ])('tries again after a handler that throws %s', async (_, thrown) => {
    const open = await openStore(engine);
    const { send, calls } = receiver(open(), () => calls.length === 1 && Promise.reject(thrown()));
    await send(order('A'));
    await eventually(() => expect(calls).toEqual(['A', 'A']));
  });

  it('makes a dead letter of what fails at every attempt, which others pass', async () => {
    const open = await openStore(engine);
    const inbox = open();
    const { send, calls, reports } = receiver(inbox, (id) => {
      if (id === 'poison') throw new Error('no such order');
    });
    void send(order('poison'));
    for (const id of ['A', 'B', 'C']) await send(order(id));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
    await eventually(() => expect(calls).toEqual(expect.arrayContaining(['A', 'B', 'C'])));
    await eventually(() =>
      expect(reports.filter(({ outcome }) => outcome === 'dead')).toMatchObject([{ attempt: 3 }]),
    );
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ name: 'event.buy.init', reason: 'Error: no such order' });
    expect(letter).not.toHaveProperty('body');
  });

  it('reads a dead letter by its digest, with its body, and nothing else', async () => {
    const open = await openStore(engine);
    const inbox = open({ maxAttempts: 1 });
    const { webhooks } = receiver(inbox, (id) => {
      if (id !== 'C') throw new Error(`no order ${id}`);
    });
    for (const id of ['A', 'B', 'C']) await webhooks.receive(order(id));
    await isDead(inbox, 2);
    for (const letter of await inbox.deadLetters()) {
      const body = order(letter.reason.slice(-1));
      expect(await inbox.deadLetter(letter.digest)).toEqual({ ...letter, body });
    }
    expect(await inbox.deadLetter(unknown)).toBeUndefined();
    expect(await inbox.deadLetters({ limit: 1 })).toHaveLength(1);
    const bodies = (await inbox.deadLetters({ withBody: true })).map(({ body }) => body);
    expect(bodies.toSorted()).toEqual(['A', 'B'].map((id) => order(id)).toSorted());
  });

  it('remembers the digest of a dead letter that is discarded', async () => {
    const open = await openStore(engine);
    const inbox = open({ maxAttempts: 1 });
    const { webhooks, calls } = receiver(inbox, () => Promise.reject(new Error('no')));
    await webhooks.receive(order('A'));
    await isDead(inbox);
    const [{ digest } = { digest: '' }] = await inbox.deadLetters();
    expect(await inbox.discard(unknown)).toBe(false);
    expect(await inbox.discard(digest)).toBe(true);
    expect(await inbox.discard(digest)).toBe(false);
    expect(await inbox.replay(digest)).toBe(false);
    await isDead(inbox, 0);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toEqual(['A']);
  });

  it('belongs to one createWebhooks', async () => {
    const open = await openStore(engine);
    const inbox = open();
    receiver(inbox);
    expect(() => receiver(inbox)).toThrow('belongs to one createWebhooks');
  });

  it('waits for handlers when it stops, and acknowledges nothing any more', async () => {
    const open = await openStore(engine);
    const inbox = open();
    const [begun, end] = [gate(), gate()];
    let hasEnded = false;
    const { webhooks } = receiver(inbox, async () => {
      begun.open();
      await end.opened;
      hasEnded = true;
    });
    const first = webhooks.receive(order('A'));
    await begun.opened;
    const stopped = inbox.stop({ timeoutMs: Number.POSITIVE_INFINITY });
    expect(await webhooks.receive(order('B'))).toMatchObject({ status: 503 });
    end.open();
    expect(await stopped).toBe('drained');
    expect(hasEnded).toBe(true);
    await first;
  });

  it('ends its stop in the time given though a handler goes on, and tells the handler', async () => {
    const open = await openStore(engine);
    const inbox = open();
    const begun = gate();
    let seen: AbortSignal | undefined;
    const { webhooks } = receiver(inbox, (_, { signal }) => {
      seen = signal;
      begun.open();
      return never();
    });
    void webhooks.receive(order('A'));
    await begun.opened;
    // real time: only what never ends reaches it.
    expect(await inbox.stop({ timeoutMs: 20 })).toBe('cut-off');
    expect(seen).toMatchObject({ aborted: true, reason: { code: 'inbox_stopped' } });
  });
}

/** What an inbox promises that acknowledges once it has stored. */
function describeDurable(engine: Engine): void {
  it('loses nothing at a restart, and remembers', async () => {
    const open = await openStore(engine);
    const first = open({ role: 'receiver' });
    const before = receiver(first);
    for (const id of ['A', 'B', 'C']) await before.webhooks.receive(order(id));
    await first.stop();
    const { calls, webhooks } = receiver(open());
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'B', 'C']));
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'duplicate' });
  });

  it('shares the work between processes that receive the same at the same moment, each once', async () => {
    const open = await openStore(engine);
    const [one, other] = [receiver(open()), receiver(open())];
    const ids = Array.from({ length: 60 }, (_, index) => `order ${index}`);
    const outcomes = await Promise.all(
      ids.flatMap((id) => [one, other].map(({ webhooks }) => webhooks.receive(order(id)))),
    );
    expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(ids.length);
    await eventually(() => expect([...one.calls, ...other.calls].toSorted()).toEqual(ids.toSorted()));
  });

  it('aborts a handler that never settles before any process tries again, and it holds up no other', async () => {
    const open = await openStore(engine);
    const signals: (AbortSignal | undefined)[] = [];
    const abortedBefore: boolean[] = [];
    const behave: Parameters<typeof receiver>[1] = (id, { signal }) => {
      if (id !== 'A') return;
      abortedBefore.push(signals.every((earlier) => earlier?.aborted === true));
      if (signals.push(signal) < 3) return never();
    };
    // real time: a lease lasts as long again. A stall of that length would end it before the handler is aborted.
    const timeLimitMs = 1_000;
    const both = [receiver(open({ timeLimitMs }), behave), receiver(open({ timeLimitMs }), behave)] as const;
    for (const id of ['A', 'B']) await both[0].webhooks.receive(order(id));
    const calls = () => both.flatMap((process) => process.calls).toSorted();
    await eventually(() => expect(calls()).toEqual(['A', 'A', 'A', 'B']));
    expect(abortedBefore).toEqual([true, true, true]);
  });

  it('leaves a delivery that a process has no handler for to the next one that has, as a first attempt', async () => {
    const open = await openStore(engine);
    const inbox = open();
    const webhooks = quietWebhooks({ inbox });
    // Before the first handler is registered nothing is leased.
    const { kind, digest } = Object(await webhooks.receive(order('A')));
    expect(kind).toBe('stored');
    webhooks.on('buy.event.close', () => {});
    await eventually(async () => {
      const [status] = (await inbox.find?.(digest)) ?? [];
      expect(status).toMatchObject({ state: 'waiting', attempts: 0 });
      // It was put back.
      expect(Number(status?.dueAt)).toBeGreaterThan(Number(status?.receivedAt));
    });
    await inbox.stop();
    const { calls, reports } = receiver(open());
    await eventually(() => expect(calls).toEqual(['A']));
    await eventually(() => expect(reports).toMatchObject([{ outcome: 'handled', attempt: 1 }]));
  });

  it('ignores a delivery once no process had a handler for it for long enough', async () => {
    const open = await openStore(engine);
    const before = open({ role: 'receiver', now: () => Date.now() - 600_000 });
    const { webhooks } = receiver(before);
    await webhooks.receive(order('A'));
    const inbox = open();
    const outcomes: string[] = [];
    const onDelivery = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
    quietWebhooks({ inbox, onDelivery }).on('buy.event.close', () => {});
    await eventually(() => expect(outcomes).toEqual(['ignored']));
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
  });

  it('keeps an event that cannot be read as a dead letter at once, for a version that reads it', async () => {
    const open = await openStore(engine);
    const inbox = open({ maxAttempts: 8 });
    const { webhooks, calls } = receiver(inbox);
    await warningsDuring(async () => {
      const unread = delivery({ event_name: 'event.sell.init', partner_order_id: 'S-1' });
      expect(await webhooks.receive(unread)).toMatchObject({ kind: 'stored', status: 200 });
      await isDead(inbox);
    });
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ name: 'event.sell.init', attempts: 1 });
    expect(letter?.reason).toMatch(/"event.sell.init" of order "S-1".*event_unrecognized/);
    expect(calls).toEqual([]);
    await inbox.stop();
    const later = open();
    const read: string[] = [];
    quietWebhooks({ inbox: later }).onUnrecognized(({ name }) => read.push(name));
    expect(await later.replay(letter?.digest ?? '')).toBe(true);
    await eventually(() => expect(read).toEqual(['event.sell.init']));
    await isDead(later, 0);
  });

  it('gives a replayed dead letter all its attempts again, once though two replay it at the same time', async () => {
    const open = await openStore(engine);
    const inbox = open({ maxAttempts: 2 });
    let replays: Promise<readonly boolean[]> = Promise.resolve([]);
    const { webhooks, calls } = receiver(inbox, async () => {
      // A replay that is late finds the delivery dead once more, and is right to replay it.
      await replays;
      throw new Error('no');
    });
    await webhooks.receive(order('A'));
    await isDead(inbox);
    const [{ digest } = { digest: '' }] = await inbox.deadLetters();
    expect(await inbox.replay(unknown)).toBe(false);
    replays = Promise.all([inbox.replay(digest), inbox.replay(digest)]);
    expect(await replays).toContain(true);
    await eventually(() => expect(calls).toHaveLength(4));
    await isDead(inbox);
    expect(calls).toHaveLength(4);
  });

  it('counts as open what waits or is being handled, which is no dead letter', async () => {
    const open = await openStore(engine);
    const inbox = open({ concurrency: 1 });
    const { webhooks, calls } = receiver(inbox, never);
    const digests: string[] = [];
    for (const id of ['A', 'B', 'C']) digests.push(Object(await webhooks.receive(order(id))).digest);
    await eventually(() => expect(calls).toHaveLength(1));
    expect(await inbox.counts()).toEqual({ open: 3, dead: 0 });
    expect(await inbox.deadLetters()).toEqual([]);
    for (const digest of digests) expect(await inbox.discard(digest)).toBe(false);
  });

  it('handles again what a stop has cut off, which is no attempt', async () => {
    const open = await openStore(engine);
    const first = open({ maxAttempts: 1 });
    const begun = gate();
    const { webhooks } = receiver(first, () => {
      begun.open();
      return never();
    });
    await webhooks.receive(order('A'));
    await begun.opened;
    expect(await first.stop({ timeoutMs: 0 })).toBe('cut-off');
    const second = open({ maxAttempts: 1 });
    const { calls } = receiver(second);
    await eventually(() => expect(calls).toEqual(['A']));
    expect(await second.deadLetters()).toEqual([]);
  });
}
