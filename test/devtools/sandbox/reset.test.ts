import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { callback, onboarded, order, place, reply } from './support.ts';

describe('reset', () => {
  it('leaves a sandbox as if it had just been made, with the same keys to come', async () => {
    const partner = callback();
    const sandbox = createSandbox({
      seed: 1,
      fetch: partner.fetch,
      faults: [{ target: 'event', fault: 'duplicate', rate: 1 }],
    });
    const { masterKey } = sandbox;
    const first = await onboarded(sandbox);
    await place(sandbox, first);
    await sandbox.idle();
    const { platform_order_ref } = sandbox.order('A-1');
    sandbox.faults.plan('request', 'server_error', { rate: 1 });
    const lastId = sandbox.trace.entries.at(-1)?.id ?? 0;

    await sandbox.reset();
    const { orders, emails, deliveries, messages, whitelistedIps, trace } = sandbox;
    expect([orders, emails, deliveries, messages, whitelistedIps, trace.entries].flat()).toEqual([]);
    expect(sandbox.faults.list()).toEqual([{ target: 'event', fault: 'duplicate', rate: 1 }]);
    expect((await reply(place(sandbox, first))).status).toBe(403);

    expect(await onboarded(sandbox)).toEqual(first);
    await place(sandbox, first);
    await sandbox.idle();
    expect(sandbox.order('A-1').platform_order_ref).toBe(platform_order_ref);
    expect(sandbox.masterKey).toBe(masterKey);
    expect(sandbox.deliveries.map(({ id, attempts }) => [id, attempts])).toEqual([['delivery-1', 2]]);
    expect(sandbox.trace.entries[0]?.id).toBeGreaterThan(lastId);
  });

  it('posts nothing of before any more: what is delayed, held back, repeated, or under way', async () => {
    const partner = callback(500);
    const sandbox = createSandbox({
      clock: 'manual',
      fetch: partner.fetch,
      callbackRetry: { maxAttempts: 5, firstDelayMs: 1000 },
    });
    const credentials = await onboarded(sandbox);
    sandbox.faults.plan('event', { kind: 'delay', delayMs: 500 });
    await place(sandbox, credentials);
    await place(sandbox, credentials, { ...order, partner_order_id: 'A-2' });
    sandbox.faults.plan('event', 'reorder');
    await place(sandbox, credentials, { ...order, partner_order_id: 'A-3' });
    const posted = partner.received.length;
    await sandbox.reset();
    await sandbox.idle();
    await sandbox.clock.drain();
    expect(partner.received.length).toBe(posted);
    expect(sandbox.trace.entries.filter(({ kind }) => kind === 'event')).toEqual([]);
  });
});

it('a sandbox calls onReset once everything is forgotten, so that a program can prepare it again', async () => {
  const seen: number[] = [];
  const sandbox = createSandbox({ onReset: () => void seen.push(sandbox.emails.length) });
  await onboarded(sandbox);
  await sandbox.reset();
  expect(seen).toEqual([0]);
});

it('an event that is held back without a next one of its order is posted after a minute of the clock', async () => {
  const partner = callback();
  const sandbox = createSandbox({ clock: 'manual', fetch: partner.fetch });
  const credentials = await onboarded(sandbox);
  sandbox.faults.plan('event', 'reorder');
  await place(sandbox, credentials);
  await sandbox.clock.advance(59_999);
  expect(sandbox.deliveries).toMatchObject([{ attempts: 0 }]);
  await sandbox.clock.advance(1);
  expect(sandbox.deliveries).toMatchObject([{ attempts: 1, acknowledged: true }]);
  expect(sandbox.clock.nextAt).toBeUndefined();
});
