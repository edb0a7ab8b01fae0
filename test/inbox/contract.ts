import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type HandlingOptions, handlingRows } from '../../src/inbox/handling-options.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { defineOptions } from '../../src/internal/options.ts';
import { describeInbox } from '../../src/testing/describe-inbox.ts';
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
  const stores = new Map<string, Promise<Store>>();
  const openIn = async (data: string, options: HandlingOptions) => {
    if (!stores.has(data)) stores.set(data, engine.open());
    const store = await stores.get(data);
    if (store === undefined) throw new Error('There is no store.');
    return store.inbox(options);
  };
  const open = (options: HandlingOptions = {}) => openIn('', { ...quick, ...options });
  afterEach(async () => {
    for (const store of stores.values()) await (await store).close();
    stores.clear();
  });

  describeInbox({ describe, it }, ({ data, ...options }) => openIn(data, options));

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

  it('has another process handle what one stored, under keys rotated since', async () => {
    const receiving = quietWebhooks({ inbox: await open({ role: 'receiver' }), keys: ['old key'] });
    expect(await receiving.receive(order('A', 'old key'))).toMatchObject({ kind: 'stored' });
    const { calls } = receiver(await open(), undefined, { keys: ['new key'] });
    await eventually(() => expect(calls).toEqual(['A']));
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

  it('does not count a delivery as handled that nothing is registered for', async () => {
    const inbox = await open({ maxAttempts: 1 });
    const receiving = receiver(await open({ role: 'receiver' }));
    quietWebhooks({ inbox }).on('buy.event.close', () => {});
    await receiving.send(order('A'));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
  });
}
