import { describe, expect, it, vi } from 'vitest';
import { InboxError, KeyError } from '../../src/errors/errors.ts';
import type { DeliveryReference } from '../../src/inbox/inbox.ts';
import { signatureMismatch } from '../../src/signature/verify-body.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, quietWebhooks } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

const sent = delivery(buyInitBody());
const failure = new Error('the database is down');
const noKeys = new KeyError('keys_unavailable', 'of another ring');

function fail(error: unknown) {
  return () => {
    throw error;
  };
}

/** Each way for a handler to fail, and what it fails with. */
const failures: [string, () => void | Promise<void>, unknown][] = [
  ['throws', fail(failure), failure],
  ['rejects', () => Promise.reject(failure), failure],
  ['throws undefined', fail(undefined), undefined],
  // Not to be taken for a refusal of the delivery itself.
  ['throws a SignatureError', () => Promise.reject(signatureMismatch()), signatureMismatch()],
  ['throws a KeyError', () => Promise.reject(noKeys), noKeys],
  ['rejects with an object that cannot be printed', () => Promise.reject(Object.create(null)), {}],
];

describe('a stopped inbox', () => {
  it('is logged once, however many deliveries it refuses, and each of them is answered 503', async () => {
    const onError = vi.fn();
    const inbox = {
      receive: () => Promise.reject(new InboxError('inbox_stopped', 'The inbox was stopped.')),
    };
    const webhooks = quietWebhooks({ inbox, onError });
    const warnings = await warningsDuring(async () => {
      for (let time = 0; time < 20; time++) {
        expect(await webhooks.receive(sent)).toMatchObject({ kind: 'unavailable', status: 503 });
      }
    });
    expect(onError).not.toHaveBeenCalled();
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/inbox was stopped.*closeServer.*#inbox_stopped/),
    ]);
  });
});

describe('a handler that', () => {
  it.each(failures)('%s makes the delivery fail', async (_, handler, error) => {
    const outcome = await quietWebhooks().on('event.buy.init', handler).receive(sent);
    expect(outcome).toMatchObject({ kind: 'failed', status: 500, name: 'event.buy.init', key: { index: 0 } });
    expect(outcome).toHaveProperty('error', error);
  });

  it.each(failures)('%s after onAny makes both handlers run again', async (_, handler) => {
    const calls: string[] = [];
    const webhooks = quietWebhooks()
      .on('event.buy.init', () => {
        calls.push('own');
        return calls.length === 2 ? handler() : undefined;
      })
      .onAny(() => {
        calls.push('any');
      });
    expect(await webhooks.receive(sent)).toMatchObject({ kind: 'failed' });
    expect(await webhooks.receive(sent)).toMatchObject({ kind: 'handled' });
    expect(calls).toEqual(['any', 'own', 'any', 'own']);
  });
});

describe('onError', () => {
  it.each(failures)(
    'is told once why a handler failed when it %s, and of which delivery',
    async (_, handler, error) => {
      const calls: [unknown, DeliveryReference][] = [];
      const onError = (...call: [unknown, DeliveryReference]) => void calls.push(call);
      const webhooks = quietWebhooks({ onError }).on('event.buy.init', handler);
      await webhooks.receive(sent);
      expect(calls).toEqual([
        [
          error,
          { name: 'event.buy.init', digest: expect.stringMatching(/^[0-9a-f]{64}$/), key: { index: 0 } },
        ],
      ]);
    },
  );
});
