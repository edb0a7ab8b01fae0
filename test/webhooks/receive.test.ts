import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import { buyInitBody, signedText } from '../support/bodies.ts';
import { delivery, quietWebhooks, unsignedText } from './deliveries.ts';

/** What a handler of published events is called with. */
async function handled(body: string | Uint8Array): Promise<{ event: OrderEvent; context: EventContext }> {
  const calls: { event: OrderEvent; context: EventContext }[] = [];
  const webhooks = quietWebhooks().onAny((event, context) => {
    calls.push({ event, context });
  });
  expect(await webhooks.receive(body)).toMatchObject({ kind: 'handled', status: 200 });
  const [call] = calls;
  if (call === undefined || calls.length !== 1) throw new Error(`Called ${calls.length} times, not once.`);
  return call;
}

/** The text of an event that starts with these members as they are written here. */
function written(members: string): string {
  const text = unsignedText(buyInitBody());
  return `{${members},${text.slice(1)}`;
}

describe('the context of a handler', () => {
  it('has the digest, name and key of the outcome', async () => {
    let told: EventContext | undefined;
    const webhooks = quietWebhooks().onAny((_, context) => {
      told = context;
    });
    const text = unsignedText(buyInitBody());
    const outcome = await webhooks.receive(signedText(text));
    const digest = createHash('sha256').update(`0:${text}`).digest('hex');
    expect(outcome).toEqual({
      kind: 'handled',
      status: 200,
      name: 'event.buy.init',
      digest,
      key: { index: 0 },
    });
    expect(told).toMatchObject({ name: 'event.buy.init', digest, key: { index: 0 } });
  });
});

describe('receive', () => {
  it.each([
    ['text', delivery(buyInitBody())],
    ['a Uint8Array', new TextEncoder().encode(delivery(buyInitBody()))],
    ['a Buffer', Buffer.from(delivery(buyInitBody()))],
  ])('takes %s', async (_, body) => {
    expect((await handled(body)).event.event_name).toBe('event.buy.init');
  });

  it.each<[string, unknown]>([
    ['a parsed object', JSON.parse(delivery(buyInitBody()))],
    ['an array', [1]],
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['an ArrayBuffer', new ArrayBuffer(8)],
  ])('rejects %s: the mistake is in the program, and the message says what to pass', async (_, body) => {
    await expect(quietWebhooks().receive(body as string)).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'raw_body_required',
      message: expect.stringContaining('raw body'),
    });
  });
});

describe('a body nested 30,000 levels deep', () => {
  const levels = 30_000;
  const text = written(`"deep":${'['.repeat(levels)}1${']'.repeat(levels)}`);

  it('is handled when it is authentic', async () => {
    const { event, context } = await handled(signedText(text));
    expect(event.event_name).toBe('event.buy.init');
    expect(context.decimal('fiat_amount_to_pay')).toBe('15000.5');
    expect(context.decimal(['deep', 0, 0, 0])).toBeUndefined();
  });
});

describe('members with the names of built-ins', () => {
  const members =
    '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":null';
  const renaming = { signature: defaultScheme, wireNames: { platform_order_ref: 'partner_ref' } };

  it.each([
    ['without names of its own', {}],
    ['with names of its own', { deployment: renaming }],
  ])('are members like any other, for a deployment %s', async (_, options) => {
    let seen: OrderEvent | undefined;
    const webhooks = quietWebhooks(options).on('event.buy.init', (event) => {
      seen = event;
    });
    expect(await webhooks.receive(signedText(written(members)))).toMatchObject({ kind: 'handled' });
    expect(Object.getPrototypeOf(seen)).toBe(Object.prototype);
    expect(seen).not.toHaveProperty('polluted');
    expect(Object.keys(seen ?? {})).toEqual(expect.arrayContaining(['__proto__', 'constructor', 'toString']));
    expect({}).not.toHaveProperty('polluted');
  });

  it('do not stand in for the event name', async () => {
    let kind: string | undefined;
    const webhooks = quietWebhooks().onUnrecognized((event) => {
      kind = event.kind;
    });
    await webhooks.receive(signedText('{"__proto__":{"event_name":"event.buy.init"}}'));
    expect(kind).toBe('nonconforming');
  });
});
