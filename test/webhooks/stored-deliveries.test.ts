import { describe, expect, it, vi } from 'vitest';
import { InboxError } from '../../src/errors/errors.ts';
import type { AttemptResult, Delivery, InboxHost } from '../../src/inbox/inbox.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { withUserTransaction } from '../../src/store/user-transaction.ts';
import type { Webhooks } from '../../src/webhooks/create-webhooks.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../support/bodies.ts';
import { rejected } from '../support/refusal.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

/** Webhooks over an inbox that stores, and the host with which that inbox would handle. */
function stored(options: WebhooksOptions = {}) {
  const kept: Delivery[] = [];
  const attached: InboxHost[] = [];
  const webhooks = quietWebhooks({
    ...options,
    inbox: {
      attach: (host) => void attached.push(host),
      async receive(one) {
        kept.push(one);
        return 'stored';
      },
    },
  });
  const [host] = attached;
  if (host === undefined) throw new Error('The inbox was not attached.');
  /** Stores an event. */
  async function store(body = buyInitBody()): Promise<Delivery> {
    await webhooks.receive(delivery(body));
    return kept.at(-1) ?? expect.unreachable();
  }
  return { webhooks, host, store, kept };
}

describe('an inbox', () => {
  it.each<[string, boolean, (webhooks: Webhooks) => unknown]>([
    ['nothing', false, () => {}],
    ['a muted name', false, (webhooks) => webhooks.onUnrecognized('ignore')],
    ['a handler of one event', true, (webhooks) => webhooks.on('event.buy.init', () => {})],
    ['a handler of every event', true, (webhooks) => webhooks.onAny(() => {})],
    ['a handler of other events', true, (webhooks) => webhooks.onUnrecognized(() => {})],
  ])('is told whether there are handlers, with %s: %s', (_, hasHandlers, register) => {
    const { webhooks, host } = stored();
    register(webhooks);
    expect(host.hasHandlers).toBe(hasHandlers);
  });

  it('is told that a documented event has no handler here', async () => {
    const { host, store } = stored();
    expect(await host.handle(await store())).toBe('put-back');
  });

  it('is told that a name is muted', async () => {
    const { webhooks, host, store } = stored();
    webhooks.onUnrecognized('ignore');
    expect(await host.handle(await store({ event_name: 'event.sell.init' }))).toBe('ignored');
  });
});

describe('an attempt to handle a stored delivery', () => {
  const times = { attempt: 3, durationMs: 20, waitedMs: 1_000 };
  const unread = new InboxError('event_unrecognized', 'Nobody can read it.');
  it.each<[string, Omit<AttemptResult, 'attempt'>, { outcome: string; code?: string }, unknown[]]>([
    ['handled it', { outcome: 'handled' }, { outcome: 'handled' }, []],
    [
      'failed',
      { outcome: 'failed', error: new TypeError('no') },
      { outcome: 'failed', code: 'handler_failed' },
      [new TypeError('no')],
    ],
    [
      'threw undefined',
      { outcome: 'failed', error: undefined },
      { outcome: 'failed', code: 'handler_failed' },
      [undefined],
    ],
    [
      'was the last one',
      { outcome: 'dead', error: new TypeError('no') },
      { outcome: 'dead', code: 'handler_failed' },
      [new TypeError('no')],
    ],
    [
      'could not read it',
      { outcome: 'dead', error: unread },
      { outcome: 'unrecognized', code: 'event_unrecognized' },
      [],
    ],
    [
      'could not read it, and another will try',
      { outcome: 'failed', error: unread },
      { outcome: 'failed', code: 'event_unrecognized' },
      [],
    ],
  ])('that %s is reported to onDelivery and onError', async (_, result, report, errors) => {
    const reports: DeliveryReport[] = [];
    const onError = vi.fn();
    const { host, store } = stored({ onDelivery: (one) => reports.push(one), onError });
    const { name, digest, key } = await store();
    reports.length = 0;
    host.report({ name, digest, key }, { ...times, ...result });
    expect(reports).toEqual([{ stage: 'handle', name, digest, ...times, ...report }]);
    expect(onError.mock.calls).toEqual(errors.map((error) => [error, { name, digest, key }]));
  });
});

describe('a handler that marks its delivery as handled in its own transaction', () => {
  /** A store over a connection of the user's. */
  function userStore() {
    const transaction = { fail: vi.fn(async () => {}) };
    return { store: withUserTransaction(memoryStore(), transaction), fail: transaction.fail };
  }
  const mark = async () => {};
  /** What `handledIn` does when a stored delivery is handled. */
  async function handledIn(act: (context: EventContext) => unknown, options: object) {
    const { webhooks, host, store } = stored();
    webhooks.onAny((_, context) => act(context));
    return await host.handle(await store(), options);
  }

  it('is done once the inbox has marked it', async () => {
    const { store, fail } = userStore();
    const marked: unknown[] = [];
    await handledIn((context) => context.handledIn(store), {
      mark: async (one: unknown) => marked.push(one),
    });
    expect([marked, fail.mock.calls.length]).toEqual([[store], 0]);
  });

  it('fails where the inbox cannot, and its transaction with it', async () => {
    const { store, fail } = userStore();
    const error = await rejected(handledIn((context) => context.handledIn(store), {}));
    const message = expect.stringMatching(/This inbox cannot mark a delivery.*storeInbox over postgresStore/);
    expect(error).toMatchObject({ code: 'invalid_option', message });
    expect(fail).toHaveBeenCalledOnce();
  });

  it('fails with a store that has no connection of the user', async () => {
    const error = await rejected(handledIn((context) => context.handledIn(memoryStore()), { mark }));
    expect(error).toMatchObject({ code: 'invalid_option' });
  });

  it.each([
    ['a documented event', buyInitBody()],
    ['another event', { event_name: 'event.sell.init' }],
  ])('fails for %s though it catches the error: it has no effect either', async (_, body) => {
    const { webhooks, host, store } = stored();
    const act = (context: EventContext) => context.handledIn(memoryStore()).catch(() => {});
    webhooks.onAny((_event, context) => act(context)).onUnrecognized((_event, context) => act(context));
    expect(await rejected(host.handle(await store(body), { mark }))).toMatchObject({
      code: 'invalid_option',
    });
  });
});

describe('an inbox whose store fails has the delivery answered 503, and onError is told', () => {
  it.each(['store_unavailable', 'store_full'] as const)('%s', async (code) => {
    const onError = vi.fn();
    const error = new InboxError(code, 'The store failed.');
    const webhooks = quietWebhooks({ onError, inbox: { receive: () => Promise.reject(error) } });
    expect(await webhooks.receive(delivery(buyInitBody()))).toMatchObject({
      kind: 'unavailable',
      status: 503,
    });
    expect(onError).toHaveBeenCalledOnce();
  });
});
