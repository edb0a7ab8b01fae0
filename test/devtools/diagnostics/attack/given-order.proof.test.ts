import { describe, expect, it, vi } from 'vitest';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { type Acting, soundSteps, startReceiver } from './broken-receivers.ts';

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

const order = { partner_order_id: 'A-1001', buyer_crypto_address: 'an address' };
const isCredit = ({ event_name }: JsonObject) => event_name === 'event.buy.credited.crypto';

/** Its credits have a foreign key to its orders, of which it has one. */
function actOnKnown(act: (event: JsonObject, acting: Acting) => void | Promise<void>) {
  return (event: JsonObject, acting: Acting) => {
    if (!isCredit(event)) return;
    if (event.partner_order_id !== order.partner_order_id) throw new Error('violates foreign key');
    if (event.buyer_crypto_address !== order.buyer_crypto_address) throw new Error('another address');
    return act(event, acting);
  };
}

async function attack(act: Parameters<typeof actOnKnown>[0], times: 1 | 2 = 1) {
  await using receiver = await startReceiver({ act: actOnKnown(act) });
  const { fetch, handled } = receiver;
  const options = { credentials, fetch, handled, order, effectTimeoutMs: 1000, skip: ['too-large'] };
  let report = await attackReceiver(receiver.url, options);
  if (times === 2) report = await attackReceiver(receiver.url, options);
  return report;
}

describe('attackReceiver, given an order that exists, of a receiver whose credits need one,', () => {
  it.each([1, 2] as const)('reports nothing if it is sound, in run %d', async (times) => {
    const { findings, results } = await attack(soundSteps.act, times);
    expect(findings).toEqual([]);
    expect(results.filter(({ verdict }) => verdict === 'ok').length).toBeGreaterThan(45);
    const left = results.filter(({ verdict }) => verdict === 'skipped').map(({ id }) => id);
    expect(left).toEqual([
      'order-id-case',
      'order-id-hyphens',
      'order-id-length',
      'handled-after-forged-close',
    ]);
  });

  it('says that it acts again on a repetition', async () => {
    const { findings } = await attack((event, { count }) => count(event));
    expect(findings.map(({ id }) => id)).toContain('acts-again');
  });

  it('says that it acts twice on one delivery', async () => {
    const { findings } = await attack((event, acting) =>
      soundSteps.act(event, { ...acting, count: (one) => [one, one].forEach(acting.count) }),
    );
    expect(findings.map(({ id }) => id)).toContain('authentic');
  });

  it('says that nothing comes of it', async () => {
    const { findings } = await attack(() => {});
    expect(findings.map(({ id }) => id)).toEqual(['handles-nothing']);
  });

  it('and without it, that authentic deliveries are refused', async () => {
    await using receiver = await startReceiver({ act: actOnKnown(soundSteps.act) });
    const { fetch, handled } = receiver;
    const { findings } = await attackReceiver(receiver.url, { credentials, fetch, handled });
    expect(findings).toMatchObject([{ id: 'authentic', verdict: 'broken' }]);
  });
});
