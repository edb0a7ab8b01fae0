import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Delivery, InboxHost } from '../../src/inbox/inbox.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

const sent = delivery(buyInitBody());
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const other = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';

/** The messages of a channel when their work has ended. */
function messagesOf(channel: 'delivery' | 'handle', start: (message: object) => void = () => {}): object[] {
  const messages: object[] = [];
  const handlers = {
    start,
    asyncEnd: ({ error: _, result: __, ...message }: Record<string, unknown>) => void messages.push(message),
  };
  const traces = tracingChannel<string, Record<string, unknown>>(`partner-exchange:${channel}`);
  // Sound: a channel takes some of its handlers, though its type wants all.
  const subscribers = handlers as unknown as Parameters<typeof traces.subscribe>[0];
  traces.subscribe(subscribers);
  onTestFinished(() => void traces.unsubscribe(subscribers));
  return messages;
}

describe('the trace of a delivery', () => {
  it.each([
    ['a plain object', { traceparent }],
    ['a plain object with a capital', { Traceparent: traceparent }],
    ['Headers', new Headers({ traceparent })],
  ])('names the published event and the outcome, with headers in %s', async (_, headers) => {
    const messages = messagesOf('delivery');
    await quietWebhooks()
      .onAny(() => {})
      .receive(sent, { headers });
    expect(messages).toEqual([
      { traceparent, event: 'event.buy.init', outcome: 'handled', status: 200, code: undefined },
    ]);
  });

  it('hides the name of any other event', async () => {
    const messages = messagesOf('delivery');
    await quietWebhooks().receive(delivery({ event_name: 'event.of.Ada' }));
    expect(messages).toMatchObject([
      { event: 'other', outcome: 'unrecognized', status: 500, code: 'event_unrecognized' },
    ]);
  });

  it('ends with the code of a mistake of the program', async () => {
    const messages = messagesOf('delivery');
    await quietWebhooks()
      .receive(Object({}))
      .catch(() => {});
    expect(messages).toEqual([{ traceparent: undefined, code: 'raw_body_required' }]);
  });
});

describe('the trace of a handler', () => {
  it('joins the trace that a subscriber has begun for the delivery', async () => {
    messagesOf('delivery', (message) => void Object.assign(message, { traceparent: other }));
    const messages = messagesOf('handle');
    await quietWebhooks()
      .onAny(() => {})
      .receive(sent, { headers: { traceparent } });
    expect(messages).toEqual([
      { traceparent: other, event: 'event.buy.init', attempt: undefined, outcome: 'handled' },
    ]);
  });

  it.each<[string, string, () => unknown]>([
    ['failed', 'handler_failed', () => Promise.reject(new Error('no'))],
    ['unrecognized', 'event_unrecognized', () => {}],
  ])('that has %s says so, with the code %s', async (outcome, code, handler) => {
    const messages = messagesOf('handle');
    const webhooks = quietWebhooks().onAny(handler);
    await webhooks.receive(outcome === 'failed' ? sent : delivery({ event_name: 'event.of.Ada' }));
    expect(messages).toMatchObject([{ outcome, code }]);
  });

  it('of a stored delivery has the trace of its request and the number of the attempt', async () => {
    const kept: Delivery[] = [];
    const hosts: InboxHost[] = [];
    const inbox = {
      attach: (host: InboxHost) => void hosts.push(host),
      async receive(one: Delivery) {
        kept.push(one);
        return 'stored' as const;
      },
    };
    await quietWebhooks({ inbox })
      .onAny(() => {})
      .receive(sent, { headers: { traceparent } });
    const messages = messagesOf('handle');
    for (const host of hosts) for (const one of kept) await host.handle(one, { attempt: 2 });
    expect(messages).toEqual([{ traceparent, event: 'event.buy.init', attempt: 2, outcome: 'handled' }]);
  });
});
