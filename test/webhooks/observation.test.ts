import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import type { DeliveryReport } from '../../src/webhooks/receive-outcome.ts';
import { buyInitBody } from '../support/bodies.ts';
import { nextTurn } from '../support/next-turn.ts';
import { delivery, quietWebhooks } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

const sent = delivery(buyInitBody());

function observed() {
  const reports: DeliveryReport[] = [];
  return { reports, onDelivery: (report: DeliveryReport) => reports.push(report) };
}

describe('onDelivery', () => {
  it('reports what became of each delivery', async () => {
    const { reports, onDelivery } = observed();
    let failures = 1;
    const webhooks = quietWebhooks({ onDelivery, maxBodyBytes: 5_000 });
    await webhooks.receive(sent);
    webhooks.on('event.buy.init', () => {
      if (failures-- > 0) throw new Error('no');
    });
    for (const body of [sent, sent, sent, '{', sent.replace('A-1001', 'A-1002'), 'x'.repeat(5_001)]) {
      await webhooks.receive(body);
    }
    expect(reports.map(({ stage, outcome, code, name }) => [stage, outcome, code, name])).toEqual([
      ['receive', 'ignored', undefined, 'event.buy.init'],
      ['receive', 'failed', 'handler_failed', 'event.buy.init'],
      ['receive', 'handled', undefined, 'event.buy.init'],
      ['receive', 'duplicate', undefined, 'event.buy.init'],
      ['receive', 'refused', 'body_not_json', undefined],
      ['receive', 'refused', 'signature_mismatch', undefined],
      ['receive', 'refused', 'body_too_large', undefined],
    ]);
    expect(reports.every(({ durationMs = Number.NaN }) => durationMs >= 0)).toBe(true);
  });

  it('names the code of an error of this package, and handler_failed for any other', async () => {
    const { reports, onDelivery } = observed();
    const errors = [
      new StoreError('store_conflict', 'Another process wrote.'),
      new TypeError('no'),
      undefined,
    ];
    const webhooks = quietWebhooks({ onDelivery }).onAny(() => Promise.reject(errors.shift()));
    for (const _ of [1, 2, 3]) await webhooks.receive(sent);
    // real time: nothing ends before it: a busy machine only makes it later.
    await quietWebhooks({ onDelivery, inbox: memoryInbox({ timeLimitMs: 20 }) })
      .onAny(() => new Promise(() => {}))
      .receive(sent);
    await quietWebhooks({ onDelivery }).receive(delivery({ event_name: 'event.of.tomorrow' }));
    expect(reports.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual([
      'failed store_conflict',
      'failed handler_failed',
      'failed handler_failed',
      'failed handler_timeout',
      'unrecognized event_unrecognized',
    ]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no metrics');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no metrics'))],
    ['never settles', () => new Promise(() => {})],
  ])('does not change the answer when it %s', async (how, onDelivery) => {
    const webhooks = quietWebhooks({ onDelivery }).onAny(() => {});
    const warnings = await warningsDuring(async () => {
      expect(await webhooks.receive(sent)).toMatchObject({ kind: 'handled', status: 200 });
      expect(await webhooks.receive(sent)).toMatchObject({ kind: 'duplicate', status: 200 });
    });
    // Once, though it failed twice.
    expect(warnings.map(({ message }) => message)).toEqual(
      how === 'never settles' ? [] : [expect.stringContaining('createWebhooks: onDelivery')],
    );
  });
});

describe('the time limit of a handler', () => {
  it('ends a handler that never settles with 500, and lets its delivery come again', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    // real time: the first never ends, the second at once.
    const webhooks = quietWebhooks({ inbox: memoryInbox({ timeLimitMs: 20 }) }).on(
      'event.buy.init',
      (_, { signal }) => {
        if (signals.push(signal) === 1) return new Promise(() => {});
      },
    );
    expect(await webhooks.receive(sent)).toMatchObject({
      kind: 'failed',
      error: { code: 'handler_timeout' },
    });
    expect(signals[0]?.aborted).toBe(true);
    expect(await webhooks.receive(sent)).toMatchObject({ kind: 'handled' });
  });

  it('keeps the second handler from running when the first was cut off', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let reached = false;
    // real time: nothing ends before it: a busy machine only makes it later.
    const webhooks = quietWebhooks({ inbox: memoryInbox({ timeLimitMs: 20 }) })
      .onAny(() => promise)
      .on('event.buy.init', () => {
        reached = true;
      });
    expect(await webhooks.receive(sent)).toMatchObject({ kind: 'failed' });
    resolve();
    await nextTurn();
    expect(reached).toBe(false);
  });
});
