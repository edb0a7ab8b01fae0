import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type HandlingOptions, handlingRows } from '../../src/inbox/handling-options.ts';
import type { Inbox, ManagedInbox } from '../../src/inbox/inbox.ts';
import { defineOptions } from '../../src/internal/options.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { DeliveryReport, ReceiveOutcome } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyCreditedBody, buyInitBody } from '../support/bodies.ts';
import { delivery, gate, quietWebhooks } from '../webhooks/deliveries.ts';
import { warningsDuring } from '../webhooks/warnings.ts';
import type { Engine, Store } from './engines.ts';
import { describeInbox } from './suite/describe-inbox.ts';

export const order = (id: string, key?: string) => delivery(buyInitBody({ partner_order_id: id }), key);

/** Short waits. */
export const quick: HandlingOptions = {
  maxAttempts: 3,
  // A busy machine may stall for a second: no lease ends by that.
  timeLimitMs: 30_000,
  retry: { firstDelayMs: 10, maxDelayMs: 40 },
  concurrency: 4,
};

/** The options of a worker or a store that a test makes by itself, with their defaults. */
export const readHandling = defineOptions('the inbox', handlingRows);

const patience = { timeout: 15_000, interval: 20 } as const;
/** Waits until the assertion holds. */
export const eventually = (assertion: () => unknown) => vi.waitFor(assertion, patience);

/** Webhooks on an inbox, what their handler is called with, and how it behaves for an order. */
export function receiver(
  inbox: Inbox,
  behave: (orderId: string, context: EventContext) => unknown = () => {},
  options: WebhooksOptions = {},
) {
  const calls: string[] = [];
  const reports: DeliveryReport[] = [];
  const webhooks = quietWebhooks({ inbox, onDelivery: (report) => reports.push(report), ...options }).on(
    'event.buy.init',
    async (event, context) => {
      calls.push(event.partner_order_id);
      await behave(event.partner_order_id, context);
    },
  );
  /** As the service might do it: again, until it is acknowledged or has been told no often enough. */
  async function send(body: string): Promise<ReceiveOutcome> {
    for (let tries = 1; ; tries++) {
      const outcome = await webhooks.receive(body);
      if (outcome.status === 200 || tries === 10) return outcome;
      // real time: the service comes again a little later.
      await sleep(5);
    }
  }
  return { webhooks, calls, reports, send };
}

/** What every inbox promises, whatever it keeps deliveries in. The tests run side by side, each in a store of its own. */
export function describeContract(engine: Engine): void {
  const stores = new Map<string, Promise<Store>>();
  afterAll(async () => {
    await Promise.all([...stores.values()].map(async (store) => (await store).close()));
  });
  describeInbox({ describe, it: it.concurrent }, async ({ data, ...options }) => {
    const opening = stores.get(data) ?? engine.open();
    stores.set(data, opening);
    return (await opening).inbox(options);
  });

  function test(
    name: string,
    run: (open: (options?: HandlingOptions) => ManagedInbox) => Promise<void>,
  ): void {
    it.concurrent(name, async () => {
      const store = await engine.open();
      await run((options) => store.inbox({ ...quick, ...options })).finally(store.close);
    });
  }

  test('keeps an authentic event that nobody reads: a dead letter at once, replayed by a version that reads it', async (open) => {
    if (!engine.durable) return;
    const inbox = open({ maxAttempts: 8 });
    const { webhooks, calls, reports } = receiver(inbox);
    const sent = delivery({ event_name: 'event.sell.init', partner_order_id: 'S-1' });
    await warningsDuring(async () => {
      expect(await webhooks.receive(sent)).toMatchObject({ kind: 'stored', status: 200 });
      await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    });
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ name: 'event.sell.init', attempts: 1 });
    expect(letter?.reason).toMatch(/"event.sell.init" of order "S-1".*event_unrecognized/);
    expect(calls).toEqual([]);
    await eventually(() =>
      expect(reports.map(({ outcome, code }) => `${outcome} ${code}`).toSorted()).toEqual([
        'stored undefined',
        'unrecognized event_unrecognized',
      ]),
    );
    await inbox.stop();
    const later = open();
    const read: string[] = [];
    quietWebhooks({ inbox: later }).onUnrecognized(({ name }) => read.push(name));
    expect(await later.replay(letter?.digest ?? '')).toBe(true);
    await eventually(() => expect(read).toEqual(['event.sell.init']));
    await eventually(async () => expect(await later.counts()).toEqual({ open: 0, dead: 0 }));
  });

  test('says in health what is open, since when, and what is dead', async (open) => {
    const inbox = open({ maxAttempts: 1 });
    expect(await inbox.health()).toEqual({ open: 0, dead: 0, quarantined: 0, oldestAgeMs: null });
    const [begun, end] = [gate(), gate()];
    const { webhooks } = receiver(inbox, async (id) => {
      begun.open();
      await end.opened;
      if (id === 'bad') throw new Error('no');
    });
    const received = webhooks.receive(order('bad'));
    await begun.opened;
    await eventually(async () => expect(await inbox.health()).toMatchObject({ open: 1, dead: 0 }));
    const { oldestAgeMs } = (await webhooks.health()).inbox ?? {};
    // Nothing waits in memory. The clock of a database may differ a little.
    if (engine.name === 'memory') expect(oldestAgeMs).toBeNull();
    else expect(Number(oldestAgeMs)).toBeLessThan(600_000);
    end.open();
    await received;
    await eventually(async () =>
      expect(await inbox.health()).toEqual({ open: 0, dead: 1, quarantined: 0, oldestAgeMs: null }),
    );
    await inbox.stop();
    if (engine.durable) await expect(inbox.health()).rejects.toMatchObject({ code: 'inbox_stopped' });
  });

  test('keeps what a receiver has no handler for, which a worker handles', async (open) => {
    if (!engine.durable) return;
    const old = receiver(open({ role: 'receiver' }));
    expect(await old.webhooks.receive(delivery(buyCreditedBody()))).toMatchObject({ kind: 'stored' });
    const handled: string[] = [];
    quietWebhooks({ inbox: open() }).on('event.buy.credited.crypto', ({ event_name }) =>
      handled.push(event_name),
    );
    await eventually(() => expect(handled).toEqual(['event.buy.credited.crypto']));
  });

  test('keeps what arrives before the first handler is registered', async (open) => {
    if (!engine.durable) return;
    const webhooks = quietWebhooks({ inbox: open() });
    expect(await webhooks.receive(order('early'))).toMatchObject({ kind: 'stored' });
    // real time: nothing may happen meanwhile; a busy machine lets less happen.
    await sleep(150);
    const handled: string[] = [];
    webhooks.on('event.buy.init', ({ partner_order_id }) => handled.push(partner_order_id));
    await eventually(() => expect(handled).toEqual(['early']));
  });

  test('acknowledges a delivery and has it handled, with all that a handler learns', async (open) => {
    const contexts: EventContext[] = [];
    const { send, calls } = receiver(open(), (_, context) => contexts.push(context));
    const outcome = await send(order('A'));
    expect(outcome).toMatchObject({ kind: engine.durable ? 'stored' : 'handled', status: 200 });
    await eventually(() => expect(calls).toEqual(['A']));
    const [context] = contexts;
    expect(context).toMatchObject({
      name: 'event.buy.init',
      digest: 'digest' in outcome ? outcome.digest : '',
      key: { index: 0 },
      signal: expect.any(AbortSignal),
    });
    expect(context?.text).not.toContain('signature');
    expect(context?.decimal('fiat_amount_to_pay')).toBe('15000.5');
  });

  test('lists no number of dead letters that is none', async (open) => {
    const inbox = open();
    for (const limit of [0, -1, 1.5, Number.POSITIVE_INFINITY]) {
      await expect(inbox.deadLetters({ limit })).rejects.toMatchObject({ code: 'invalid_option' });
    }
  });

  for (const [way, sign] of Object.entries({ back: -1, ahead: 1 })) {
    test(`tries again and remembers though the clock jumps ${way} by 29 days`, async (open) => {
      let ahead = 0;
      const { send, calls, reports } = receiver(open({ now: () => Date.now() + ahead }), () => {
        if (ahead !== 0) return;
        ahead = sign * 29 * 24 * 60 * 60 * 1000;
        throw new Error('not yet');
      });
      await send(order('A'));
      await eventually(() => expect(reports.map(({ outcome }) => outcome)).toContain('handled'));
      ahead = 0;
      expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' });
      expect(calls).toEqual(['A', 'A']);
      expect(reports.filter(({ waitedMs = 0 }) => waitedMs < 0)).toEqual([]);
    });
  }

  test('stops when its handlers have ended, however long that takes, where no time is set', async (open) => {
    const inbox = open({ timeLimitMs: 60_000 });
    const begun = gate();
    const end = gate();
    const { webhooks } = receiver(inbox, () => {
      begun.open();
      return end.opened;
    });
    void webhooks.receive(order('A'));
    await begun.opened;
    const stopped = inbox.stop({ timeoutMs: Number.POSITIVE_INFINITY });
    // real time: the stop waits meanwhile.
    setTimeout(end.open, 100);
    expect(await stopped).toBe('drained');
  });

  const unsound = [
    { maxAttempts: 0 },
    { timeLimitMs: 0.5 },
    { timeLimitMs: 2 ** 31 },
    { rememberMs: -1 },
    { now: 5 },
  ];
  for (const wrong of unsound) {
    test(`refuses ${JSON.stringify(wrong)}`, async (open) => {
      // As from JavaScript.
      expect(() => open(wrong as HandlingOptions)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    });
  }

  if (!engine.durable) return;

  test('touches no dead letter when the digest is missing', async (open) => {
    const inbox = open();
    const { webhooks } = receiver(inbox, () => {
      throw new Error('no such order');
    });
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    // From JavaScript: a query parameter that is not there.
    const missing = Object(undefined).digest;
    for (const act of [inbox.deadLetter, inbox.replay, inbox.discard]) {
      await expect(act(missing)).rejects.toMatchObject({ code: 'invalid_option' });
    }
    expect(await inbox.counts()).toEqual({ open: 0, dead: 1 });
  });

  test('reports storing and handling, with timings and nothing of the body', async (open) => {
    const { send, reports } = receiver(open());
    await send(order('A'));
    await eventually(() => expect(reports).toHaveLength(2));
    const [digest, durationMs] = [expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(Number)];
    const common = { name: 'event.buy.init', digest, durationMs };
    const handled = { ...common, stage: 'handle', outcome: 'handled', attempt: 1, waitedMs: durationMs };
    expect(reports.toSorted((a, b) => b.stage.localeCompare(a.stage))).toEqual([
      { ...common, stage: 'receive', outcome: 'stored', status: 200, code: undefined },
      handled,
    ]);
  });

  test('keeps an event of any name', async (open) => {
    const names = ['odd \0 name', 'half \ud83d', '', 'x'.repeat(60_000)];
    const texts: string[] = [];
    const webhooks = quietWebhooks({ inbox: open() }).onUnrecognized((_, { text }) => {
      texts.push(text);
    });
    for (const name of names) {
      const body = delivery(buyInitBody({ event_name: name, payment_note: 'odd \0 \ud83d 🙂' }));
      expect(await webhooks.receive(body)).toMatchObject({ kind: 'stored' });
      expect(await webhooks.receive(body)).toMatchObject({ kind: 'duplicate' });
    }
    await eventually(() => expect(texts).toHaveLength(names.length));
    expect(texts.filter((text) => !text.includes('odd \\u0000 \\ud83d 🙂'))).toEqual([]);
  });

  test('makes a dead letter with any reason, also of what is no Error', async (open) => {
    const reasons = new Map<string, unknown>([
      ['A', new Error('odd \0 text')],
      ['B', new Error(`${'x'.repeat(492)}🙂`)],
      ['C', new Error('\ud83d')],
      ['D', 'down'],
      ['E', undefined],
    ]);
    const inbox = open({ maxAttempts: 2 });
    const { send, calls } = receiver(inbox, (id) => Promise.reject(reasons.get(id)));
    for (const id of reasons.keys()) await send(order(id));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(reasons.size));
    expect(calls).toHaveLength(2 * reasons.size);
    const listed = await inbox.deadLetters();
    expect(listed.filter(({ attempts }) => attempts !== 2)).toEqual([]);
    const isOfError = (reason: string) => reason.startsWith('Error: ');
    expect(listed.filter(({ reason }) => isOfError(reason))).toHaveLength(3);
    const others = listed.map(({ reason }) => reason).filter((reason) => !isOfError(reason));
    expect(others.toSorted()).toEqual(['down', 'undefined']);
  });

  test('has another process handle what one stored, under keys rotated since', async (open) => {
    const receiving = quietWebhooks({ inbox: open({ role: 'receiver' }), keys: ['old key'] });
    expect(await receiving.receive(order('A', 'old key'))).toMatchObject({ kind: 'stored' });
    const { calls } = receiver(open(), undefined, { keys: ['new key'] });
    await eventually(() => expect(calls).toEqual(['A']));
  });

  test('may be stopped while it starts', async (open) => {
    // A rejection that nothing handles would end the process, and fails the run here.
    for (const waitMs of [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5].flatMap((ms) => [ms, ms, ms])) {
      const inbox = open();
      // real time: one stop at each moment of the start.
      await sleep(waitMs);
      await inbox.stop();
    }
    // real time: a rejection that nothing handles shows meanwhile.
    await sleep(20);
  });

  test('does nothing once it has stopped, and says so', async (open) => {
    const inbox = open();
    const { webhooks } = receiver(inbox);
    const { digest } = Object({ digest: '', ...(await webhooks.receive(order('A'))) });
    await inbox.stop();
    const read = inbox.deadLetter(digest);
    const asked = [inbox.counts(), inbox.deadLetters(), read, inbox.replay(digest), inbox.discard(digest)];
    for (const { status, reason } of Object(await Promise.allSettled(asked))) {
      expect([status, reason?.code]).toEqual(['rejected', 'inbox_stopped']);
    }
    expect(await inbox.stop()).toBe('drained');
  });

  test('does not count a delivery as handled that nothing is registered for', async (open) => {
    if (!engine.durable) return;
    const inbox = open({ ignoreAfterMs: 0 });
    const reports: DeliveryReport[] = [];
    const onDelivery = (report: DeliveryReport) => reports.push(report);
    const webhooks = quietWebhooks({ inbox, onDelivery }).on('buy.event.close', () => {});
    await webhooks.receive(order('A'));
    await eventually(() =>
      expect(reports.map(({ outcome }) => outcome).toSorted()).toEqual(['ignored', 'stored']),
    );
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
  });
}
