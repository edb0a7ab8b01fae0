import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxReply } from '../../../../src/devtools/sandbox/settings/reply-forms.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import type { OrderEventName } from '../../../../src/events/order-event.ts';
import { callback, onboarded, order, partner, place, post, reply } from '../support.ts';

/** Another function than the types allow. */
const wrong = (hook: () => unknown) => hook as () => never;
const failing = wrong(() => {
  throw new RangeError('secret');
});

async function start(options: SandboxOptions) {
  const { fetch, received } = callback();
  const sandbox = createSandbox({ fetch, eventSpelling: 'compact', ...options });
  return { sandbox, received, credentials: await onboarded(sandbox) };
}

describe('the hook event', () => {
  it('gets each event with its name, before it is signed and under the published names', async () => {
    const names: OrderEventName[] = [];
    const { sandbox, credentials, received } = await start({
      deployment: { wireNames: { platform_order_ref: 'acme_order_ref' } },
      event: ({ platform_order_ref = '', ...body }, name) => {
        names.push(name);
        return { ...body, platform_order_ref: `X-${platform_order_ref}` };
      },
    });
    await place(sandbox, credentials);
    await sandbox.advance('A-1', 'fiat_received');
    expect(names).toEqual(['event.buy.init', 'event.buy.received.fiat']);
    expect(JSON.parse(received[0]?.text ?? '').acme_order_ref).toMatch(/^X-SBX-/);
  });

  it('that throws makes advance reject, and the order stays where it was', async () => {
    const { sandbox, credentials } = await start({
      event: (body, name) => (name === 'event.buy.init' ? body : failing()),
    });
    await place(sandbox, credentials);
    await expect(sandbox.advance('A-1', 'fiat_received')).rejects.toMatchObject({
      code: 'invalid_option',
      cause: { message: 'secret' },
    });
    await expect(sandbox.play('A-1', 'happy')).rejects.toThrow('The function event');
    expect(sandbox.order('A-1').state).toBe('created');
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(1);
  });

  const noObject = 'event must return a JSON object, and no promise.';
  it.each([
    ['throws', failing, 'The function event, given to createSandbox, threw a RangeError.'],
    ['gives a promise', async () => ({}), noObject],
    ['gives a date', () => ({ created_at: new Date() }), noObject],
  ])('that %s refuses the order, without its own message', async (_, hook, message) => {
    const { sandbox, credentials } = await start({ event: wrong(hook) });
    expect(await reply(place(sandbox, credentials))).toEqual({
      status: 500,
      body: { error: 'sandbox_failed', message },
    });
    expect(sandbox.orders).toEqual([]);
  });
});

describe('the hook reply', () => {
  it('gets every reply and refusal with its operation', async () => {
    const seen: [string | undefined, number][] = [];
    const sandbox = createSandbox({
      reply(own, operation) {
        seen.push([operation, own.status]);
        return own;
      },
    });
    await onboarded(sandbox);
    await post(sandbox, 'createOrder', order);
    await sandbox.fetch('https://sandbox.localhost/elsewhere');
    await sandbox.fetch(sandbox.emails[0]?.link ?? '');
    expect(seen).toEqual([
      ['onboard', 200],
      ['whitelistIp', 200],
      ['createOrder', 401],
      [undefined, 404],
      ['openLink', 410],
    ]);
  });

  it('changes headers, and a body that is a text goes out as it is', async () => {
    const sandbox = createSandbox({
      reply: (own) => ({ ...own, headers: { ...own.headers, 'x-request-id': '7' }, body: 'OK' }),
    });
    const response = await post(sandbox, 'onboard', partner);
    expect([response.headers.get('x-request-id'), await response.text()]).toEqual(['7', 'OK']);
  });

  const fitting: SandboxReply = { status: 200, headers: {}, body: null };
  it.each([
    ['throws', failing, 'The function reply, given to createSandbox, threw a RangeError.'],
    ['gives a promise', async () => fitting, 'reply must return'],
    ['gives a status that is none', () => ({ ...fitting, status: 700 }), 'reply must return'],
    ['gives a body that is no JSON', () => ({ ...fitting, body: { at: new Date() } }), 'reply must return'],
    ['gives a header that is no text', () => ({ ...fitting, headers: { age: 1 } }), 'reply must return'],
  ])('that %s is answered 500, and the service has acted', async (_, hook, message) => {
    const sandbox = createSandbox({ reply: wrong(hook) });
    const { status, body } = await reply(post(sandbox, 'onboard', partner));
    expect([status, body.message]).toEqual([500, expect.stringContaining(message)]);
    expect(sandbox.emails).toHaveLength(1);
  });
});
