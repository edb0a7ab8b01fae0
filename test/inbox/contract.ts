import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { type HandlingOptions, handlingRows } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { defineOptions } from '../../src/internal/options.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { DeliveryReport, Outcome } from '../../src/webhooks/outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, gate, quietWebhooks } from '../webhooks/deliveries.ts';
import type { Engine, Store } from './engines.ts';

export const order = (id: string, key?: string) => delivery(buyInitBody({ partner_order_id: id }), key);

/** Short waits: pg-boss rounds them up to whole seconds. */
export const quick: HandlingOptions = {
  maxAttempts: 3,
  timeLimitMs: 400,
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
  inbox: ManagedInbox,
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
  async function send(body: string): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      const outcome = await webhooks.receive(body);
      if (outcome.status === 200 || tries === 10) return outcome;
      await sleep(5);
    }
  }
  return { webhooks, calls, reports, send };
}

/** What every inbox promises, whatever it keeps deliveries in. */
export function describeContract(engine: Engine): void {
  let store: Store | undefined;
  const open = async (options: HandlingOptions = {}) => {
    store ??= await engine.open();
    return store.inbox({ ...quick, ...options });
  };
  afterEach(async () => {
    await store?.close();
    store = undefined;
  });

  it('acknowledges a delivery and has it handled, with all that a handler learns', async () => {
    const contexts: EventContext[] = [];
    const { send, calls } = receiver(await open(), (_, context) => contexts.push(context));
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

  it('handles a delivery once that comes again, before it is handled and long after', async () => {
    const begun = gate();
    const end = gate();
    const { webhooks, send, calls } = receiver(await open(), async () => {
      begun.open();
      await end.opened;
    });
    const first = send(order('A'));
    await begun.opened;
    const second = await webhooks.receive(order('A'));
    expect(second).toMatchObject(
      engine.durable ? { kind: 'duplicate', status: 200 } : { kind: 'busy', status: 503 },
    );
    end.open();
    await first;
    await eventually(async () => expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' }));
    await send(order('B'));
    await eventually(() => expect(calls).toEqual(['A', 'B']));
    expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toEqual(['A', 'B']);
  });

  it('handles a delivery once of which 50 come at once, and acknowledges them all in the end', async () => {
    const { send, calls } = receiver(await open());
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => send(order('A'))));
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
    await send(order('B'));
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'B']));
  });

  it.each<[string, () => unknown]>([
    ['throws an error', () => Promise.reject(new Error('the database is down'))],
    ['throws text', () => Promise.reject('down')],
    ['throws undefined', () => Promise.reject(undefined)],
    ['throws what cannot be printed', () => Promise.reject(Object.create(null))],
  ])('tries again when a handler %s', async (_, fail) => {
    let calls = 0;
    const { send, reports } = receiver(await open(), () => (calls++ === 0 ? fail() : undefined));
    await send(order('A'));
    await eventually(() => expect(calls).toBe(2));
    await eventually(() => expect(reports.map(({ outcome }) => outcome)).toContain('handled'));
    expect(reports.map(({ outcome }) => outcome)).toContain('failed');
  });

  it('puts a poison event with the dead letters after the stated number of attempts; others pass it', async () => {
    const inbox = await open();
    const poison = new Set(['poison']);
    const { send, calls, reports } = receiver(inbox, (id) => {
      if (poison.has(id)) throw new Error(`no such order`);
    });
    void send(order('poison'));
    for (const id of ['A', 'B', 'C']) await send(order(id));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
    // The memory leaves it to the sender to try again, who does not count.
    if (engine.durable) expect(calls.filter((id) => id === 'poison')).toHaveLength(3);
    await eventually(() => expect(calls).toEqual(expect.arrayContaining(['A', 'B', 'C'])));
    const dead = { stage: 'handle', attempt: 3, name: 'event.buy.init' };
    // Once it is written down.
    await eventually(() => expect(reports.filter(({ outcome }) => outcome === 'dead')).toMatchObject([dead]));
    const [deadLetter] = await inbox.deadLetters();
    expect(deadLetter).toMatchObject({ name: 'event.buy.init', receivedAt: expect.any(Date) });
    expect(deadLetter?.reason).toContain('no such order');
    expect(Math.abs(Date.now() - Number(deadLetter?.receivedAt))).toBeLessThan(60_000);
    await new Promise((resolve) => setTimeout(resolve, 100));

    poison.clear();
    const before = calls.length;
    expect(await inbox.replay('00'.repeat(32))).toBe(false);
    expect(await inbox.replay(deadLetter?.digest ?? '')).toBe(true);
    await eventually(() => expect(calls.slice(before)).toEqual(['poison']));
    expect(await inbox.deadLetters()).toEqual([]);
    await eventually(async () => expect(await send(order('poison'))).toMatchObject({ kind: 'duplicate' }));
  });

  it('reads one dead letter by its digest, and nothing else by one', async () => {
    if (engine.durable) {
      // Stored, and not handled yet.
      const storing = receiver(await open({ role: 'receiver' }));
      const { digest } = Object({ digest: '', ...(await storing.send(order('waiting'))) });
      expect(await (await open({ role: 'receiver' })).deadLetter(digest)).toBeUndefined();
    }
    const inbox = await open();
    const broken = new Set(['A', 'B']);
    const { webhooks } = receiver(inbox, (id) => {
      if (broken.has(id)) throw new Error(`no order ${id}`);
    });
    const attempts = engine.durable ? 1 : 3;
    const outcomes = [];
    for (const id of ['A', 'B', 'C'])
      for (let i = 0; i < attempts; i++) outcomes.push(await webhooks.receive(order(id)));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 2 }));
    const listed = await inbox.deadLetters();
    expect(listed).toHaveLength(2);
    for (const one of listed) {
      expect(await inbox.deadLetter(one.digest)).toEqual(one);
      const body = order(one.reason.endsWith('A') ? 'A' : 'B');
      expect(await inbox.deadLetter(one.digest, { withBody: true })).toEqual({ ...one, body });
    }
    expect(await inbox.deadLetter('00'.repeat(32))).toBeUndefined();
    // C was handled.
    const { digest } = Object({ digest: '', ...outcomes.at(-1) });
    expect(digest).toHaveLength(64);
    expect(await inbox.deadLetter(digest, { withBody: true })).toBeUndefined();
    const wrong = Object({ withBodies: true });
    await expect(inbox.deadLetter(digest, wrong)).rejects.toMatchObject({ code: 'invalid_option' });
  });

  it.runIf(engine.durable)('touches no dead letter when the digest is missing', async () => {
    const inbox = await open();
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

  it.each([0, -1, 1.5, Number.POSITIVE_INFINITY])('does not list %d dead letters', async (limit) => {
    await expect((await open()).deadLetters({ limit })).rejects.toMatchObject({ code: 'invalid_option' });
  });

  it('gives a replayed dead letter all its attempts, and forgets one that is discarded', async () => {
    const inbox = await open({ maxAttempts: 2 });
    const { webhooks, calls } = receiver(inbox, () => Promise.reject(new Error('no')));
    await webhooks.receive(order('A'));
    if (!engine.durable) await webhooks.receive(order('A'));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
    const [deadLetter] = await inbox.deadLetters();
    const digest = deadLetter?.digest ?? '';
    expect(calls).toHaveLength(2);
    await inbox.replay(digest).catch(() => {});
    await eventually(() => expect(calls.length).toBeGreaterThanOrEqual(engine.durable ? 4 : 3));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
    expect(await inbox.discard('00'.repeat(32))).toBe(false);
    expect(await inbox.discard(digest)).toBe(true);
    expect(await inbox.deadLetters()).toEqual([]);
    expect(await inbox.discard(digest)).toBe(false);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toHaveLength(engine.durable ? 4 : 3);
  });

  it('cuts off a handler that never settles, tells it so, and tries again', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { send, calls } = receiver(await open(), (id, { signal }) => {
      if (id !== 'A' || signals.push(signal) > 1) return undefined;
      return new Promise(() => {});
    });
    void send(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    // Another one is not held up by it.
    await send(order('B'));
    await eventually(() => expect(calls).toContain('B'));
    await eventually(() => expect(calls).toEqual(['A', 'B', 'A']));
    expect(signals[0]).toMatchObject({ aborted: true, reason: { code: 'handler_timeout' } });
  });

  it.each([
    ['back', -1],
    ['ahead', 1],
  ])('tries again and remembers though the clock jumps %s by 29 days', async (_, sign) => {
    let ahead = 0;
    const { send, calls, reports } = receiver(await open({ now: () => Date.now() + ahead }), () => {
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

  it('stops: handlers end, and nothing more is acknowledged', async () => {
    const inbox = await open();
    const begun = gate();
    const end = gate();
    let ended = false;
    const { webhooks } = receiver(inbox, async () => {
      begun.open();
      await end.opened;
      ended = true;
    });
    const first = webhooks.receive(order('A'));
    await begun.opened;
    const stopped = inbox.stop({ timeoutMs: 5_000 });
    end.open();
    expect(await stopped).toBe('drained');
    expect(ended).toBe(true);
    await first;
    expect(await webhooks.receive(order('B'))).toMatchObject({
      kind: 'unavailable',
      status: 503,
      retryAfterMs: expect.any(Number),
      error: { code: 'inbox_stopped' },
    });
  });

  it('stops in the time given though a handler goes on, and tells it so', async () => {
    const inbox = await open({ timeLimitMs: 60_000 });
    const begun = gate();
    let seen: AbortSignal | undefined;
    const { webhooks } = receiver(inbox, (_, { signal }) => {
      seen = signal;
      begun.open();
      return new Promise(() => {});
    });
    void webhooks.receive(order('A'));
    await begun.opened;
    expect(await inbox.stop({ timeoutMs: 50 })).toBe('cut-off');
    expect(seen).toMatchObject({ aborted: true, reason: { code: 'inbox_stopped' } });
  });

  it('stops when its handlers have ended, however long that takes, where no time is set', async () => {
    const inbox = await open({ timeLimitMs: 60_000 });
    const begun = gate();
    const end = gate();
    const { webhooks } = receiver(inbox, () => {
      begun.open();
      return end.opened;
    });
    void webhooks.receive(order('A'));
    await begun.opened;
    const stopped = inbox.stop({ timeoutMs: Number.POSITIVE_INFINITY });
    setTimeout(end.open, 100);
    expect(await stopped).toBe('drained');
  });

  it('belongs to one createWebhooks', async () => {
    const inbox = await open();
    receiver(inbox);
    expect(() => receiver(inbox)).toThrow('one createWebhooks');
  });

  it.each([
    { maxAttempts: 0 },
    { timeLimitMs: 0.5 },
    { timeLimitMs: 2 ** 31 },
    { rememberMs: -1 },
    { now: 5 },
  ])('refuses %j', async (wrong) => {
    await expect(open(wrong as HandlingOptions)).rejects.toMatchObject({ code: 'invalid_option' });
  });

  if (!engine.durable) return;

  it('reports storing and handling, with timings and nothing of the body', async () => {
    const { send, reports } = receiver(await open());
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

  it.each(['odd \0 name', 'half \ud83d', '', 'x'.repeat(60_000)])(
    'keeps an event of any name',
    async (name) => {
      const texts: string[] = [];
      const body = delivery(buyInitBody({ event_name: name, payment_note: 'odd \0 \ud83d 🙂' }));
      const webhooks = quietWebhooks({ inbox: await open() }).onUnrecognized((_, { text }) => {
        texts.push(text);
      });
      expect(await webhooks.receive(body)).toMatchObject({ kind: 'stored' });
      expect(await webhooks.receive(body)).toMatchObject({ kind: 'duplicate' });
      await eventually(() => expect(texts).toEqual([expect.stringContaining('odd \\u0000 \\ud83d 🙂')]));
    },
  );

  it.each(['odd \0 text', `${'x'.repeat(492)}🙂`, '\ud83d'])(
    'makes a dead letter with any reason',
    async (message) => {
      const inbox = await open({ maxAttempts: 2 });
      const { send, calls } = receiver(inbox, () => Promise.reject(new Error(message)));
      await send(order('A'));
      await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
      expect(calls).toHaveLength(2);
      expect((await inbox.deadLetters())[0]?.reason).toMatch(/^Error: /);
    },
  );

  it.each(['down', undefined])(
    'makes a dead letter with %s as the reason, which is no Error',
    async (thrown) => {
      const inbox = await open({ maxAttempts: 1 });
      const { send } = receiver(inbox, () => Promise.reject(thrown));
      await send(order('A'));
      await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
      expect(await inbox.deadLetters()).toMatchObject([{ attempts: 1, reason: String(thrown) }]);
    },
  );

  it('replays a dead letter once, that two replay at the same time', async () => {
    const inbox = await open({ maxAttempts: 1 });
    let broken = true;
    const { send, calls } = receiver(inbox, () => {
      if (broken) throw new Error('no');
    });
    await send(order('A'));
    await eventually(async () => expect((await inbox.counts()).dead).toBe(1));
    broken = false;
    const [{ digest } = { digest: '' }] = await inbox.deadLetters();
    const replays = await Promise.all([inbox.replay(digest), inbox.replay(digest)]);
    expect(replays).toContain(true);
    await send(order('B'));
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'A', 'B']));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
  });

  it('has another process handle what one stored, under keys rotated since', async () => {
    const receiving = quietWebhooks({ inbox: await open({ role: 'receiver' }), keys: ['old key'] });
    expect(await receiving.receive(order('A', 'old key'))).toMatchObject({ kind: 'stored' });
    const { calls } = receiver(await open(), undefined, { keys: ['new key'] });
    await eventually(() => expect(calls).toEqual(['A']));
  });

  it('handles after a restart what was stored before it', async () => {
    const first = await open({ role: 'receiver' });
    const { webhooks } = receiver(first);
    for (const id of ['A', 'B', 'C']) await webhooks.receive(order(id));
    await first.stop();
    const { calls, webhooks: restarted } = receiver(await open());
    await eventually(() => expect(calls.toSorted()).toEqual(['A', 'B', 'C']));
    expect(await restarted.receive(order('B'))).toMatchObject({ kind: 'duplicate' });
  });

  it('may be stopped while it starts', async () => {
    // A rejection that nothing handles would end the process, and fails the run here.
    for (const waitMs of [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5].flatMap((ms) => [ms, ms, ms])) {
      const inbox = await open();
      await sleep(waitMs);
      await inbox.stop();
    }
    await sleep(20);
  });

  it('does nothing once it has stopped, and says so', async () => {
    const inbox = await open();
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

  it('has a delivery handled again whose handler was cut off by a stop', async () => {
    // Nobody waits for its lease to run out.
    const first = await open({ timeLimitMs: 60_000 });
    const begun = gate();
    const { webhooks } = receiver(first, () => {
      begun.open();
      return new Promise(() => {});
    });
    await webhooks.receive(order('A'));
    await begun.opened;
    expect(await first.stop({ timeoutMs: 20 })).toBe('cut-off');
    const { calls } = receiver(await open());
    await eventually(() => expect(calls).toEqual(['A']));
  });

  it('makes no dead letter of a delivery that was cut off by a stop at its last attempt', async () => {
    const first = await open({ maxAttempts: 1, timeLimitMs: 60_000 });
    const begun = gate();
    const { webhooks } = receiver(first, () => {
      begun.open();
      return new Promise(() => {});
    });
    await webhooks.receive(order('A'));
    await begun.opened;
    expect(await first.stop({ timeoutMs: 20 })).toBe('cut-off');
    const second = await open({ maxAttempts: 1 });
    const { reports } = receiver(second);
    await eventually(() => expect(reports).toMatchObject([{ outcome: 'handled' }]));
    expect(await second.deadLetters()).toEqual([]);
  });

  it('gives the bodies of dead letters to who asks for them, as they were received', async () => {
    const inbox = await open({ maxAttempts: 1 });
    const { send } = receiver(inbox, () => Promise.reject(new Error('no')));
    await send(order('A'));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
    const [without] = await inbox.deadLetters();
    expect(without).not.toHaveProperty('body');
    expect(await inbox.deadLetters({ withBody: true })).toEqual([{ ...without, body: order('A') }]);
  });

  it('says stored once of a delivery that several receive at the same moment', async () => {
    const role = 'receiver';
    const all = [
      receiver(await open({ role })),
      receiver(await open({ role })),
      receiver(await open({ role })),
    ];
    for (const id of ['A', 'B', 'C']) {
      const outcomes = await Promise.all(all.flatMap(({ send }) => [send(order(id)), send(order(id))]));
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
        ...Array.from({ length: 5 }, () => 'duplicate'),
        'stored',
      ]);
    }
  });

  it('does not count a delivery as handled that nothing is registered for', async () => {
    const inbox = await open({ maxAttempts: 1 });
    const receiving = receiver(await open({ role: 'receiver' }));
    quietWebhooks({ inbox }).on('buy.event.close', () => {});
    await receiving.send(order('A'));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
  });

  it('handles no more at a time than it may, and all in the end', async () => {
    let [now, most] = [0, 0];
    const { webhooks, calls } = receiver(await open({ concurrency: 3 }), async () => {
      most = Math.max(most, ++now);
      await sleep(5);
      now--;
    });
    const ids = Array.from({ length: 40 }, (_, index) => `order ${index}`);
    await Promise.all(ids.map((id) => webhooks.receive(order(id))));
    await eventually(() => expect(calls.toSorted()).toEqual(ids.toSorted()));
    expect(most).toBeLessThanOrEqual(3);
  });

  it('lets two workers share the work, each delivery handled once', async () => {
    const one = receiver(await open());
    const other = receiver(await open());
    const ids = Array.from({ length: 60 }, (_, index) => `order ${index}`);
    await Promise.all(ids.flatMap((id) => [one.send(order(id)), other.send(order(id))]));
    await eventually(() => expect([...one.calls, ...other.calls].toSorted()).toEqual(ids.toSorted()));
  });
}
