import { describe, expect, it, vi } from 'vitest';
import { InboxError, OrderError, StoreError } from '../../src/errors/errors.ts';
import { attemptDelivery, type LeasedDelivery, startLeaseClock } from '../../src/inbox/handling-attempt.ts';
import { ignoreAfterMs } from '../../src/inbox/handling-options.ts';
import type { HandleOptions, HandleResult } from '../../src/inbox/inbox.ts';
import type { Marking } from '../../src/inbox/marking.ts';
import { readHandling } from './receiver.ts';

const receivedAt = 1_800_000_000_000;
const delivery = { digest: 'a'.repeat(64), name: 'event.buy.init', key: { index: 0 }, body: '{}' };

interface Attempt extends Partial<LeasedDelivery> {
  readonly handle?: (options?: HandleOptions) => Promise<HandleResult>;
  /** Milliseconds from receiving the delivery to this attempt. */
  readonly waitedMs?: number;
  /** Milliseconds since the lease was asked for. */
  readonly elapsedMs?: number;
  readonly signal?: AbortSignal;
  readonly marking?: Marking;
}

/** One attempt, its result, and what its handler and `onStoreError` were called with. */
async function attempt({ waitedMs = 0, elapsedMs = 0, signal, marking, ...lease }: Attempt) {
  const handle = vi.fn(lease.handle ?? (async () => 'handled' as const));
  const onStoreError = vi.fn();
  const result = await attemptDelivery(
    { hasHandlers: true, handle: (_, options) => handle(options), report: () => {} },
    { delivery, attempt: 1, receivedAt, ...lease },
    {
      ...readHandling({ now: () => receivedAt + waitedMs, timeLimitMs: 60_000, onStoreError }),
      elapsedMs: () => elapsedMs,
      signal,
      marking,
    },
  );
  return { result, handle, onStoreError };
}

const failing = (error: unknown) => () => Promise.reject(error);

describe('an attempt', () => {
  it('does not begin once the time limit is over, and the delivery is due again at once', async () => {
    for (const elapsedMs of [60_000, 60_001]) {
      const { result, handle } = await attempt({ elapsedMs });
      expect(result).toEqual({ outcome: 'put-back', delayMs: 0 });
      expect(handle).not.toHaveBeenCalled();
    }
    const { result } = await attempt({ elapsedMs: 59_990 });
    expect(result).toMatchObject({ outcome: 'handled' });
  });

  it('gives the handler its number, a signal and a way to mark the delivery', async () => {
    const marking = markingThat({ isAsked: false });
    const { handle } = await attempt({ attempt: 3, marking });
    expect(handle).toHaveBeenCalledWith({ attempt: 3, signal: expect.any(AbortSignal), mark: marking.mark });
  });

  it.each([
    [
      'has an order that does not match',
      new OrderError('order_mismatch', 'It does not match.', { partner_order_id: 'A' }),
    ],
    ['cannot read the event', new InboxError('event_unrecognized', 'Nobody reads it.')],
  ])('is the last one when the handler %s', async (_, error) => {
    const { result } = await attempt({ handle: failing(error) });
    expect(result).toMatchObject({ outcome: 'dead', attempt: 1, error });
  });

  it.each([
    ['an order in another process', new OrderError('in_progress', 'Elsewhere.', { partner_order_id: 'A' })],
    ['a handler that took too long', new InboxError('handler_timeout', 'Too long.')],
    [
      'an error with such a code that is not ours',
      Object.assign(new Error('no'), { code: 'order_mismatch' }),
    ],
  ])('is followed by another one after %s', async (_, error) => {
    const { result } = await attempt({ attempt: 7, handle: failing(error) });
    expect(result).toMatchObject({ outcome: 'failed', attempt: 7, error });
  });

  it('of number maxAttempts is the last one, unless a stop has interrupted it', async () => {
    const handle = failing(new Error('no'));
    expect((await attempt({ attempt: 8, handle })).result).toMatchObject({ outcome: 'dead' });
    const controller = new AbortController();
    const stopped = await attempt({
      attempt: 8,
      signal: controller.signal,
      handle: async () => {
        controller.abort();
        throw new Error('no');
      },
    });
    expect(stopped.result).toMatchObject({ outcome: 'failed' });
  });
});

describe('a delivery that this process has no handler for', () => {
  it.each([
    ['a second', 0, 1_000],
    ['half of the time that it has waited', 100_001, 50_001],
    ['what is left of 10 minutes', ignoreAfterMs - 500, 500],
  ])('goes back for %s', async (_, waitedMs, delayMs) => {
    const { result } = await attempt({ waitedMs, handle: async () => 'put-back' });
    expect(result).toEqual({ outcome: 'put-back', delayMs });
  });

  it('is ignored after 10 minutes', async () => {
    const { result } = await attempt({ waitedMs: 600_000, handle: async () => 'put-back' });
    expect(result).toMatchObject({ outcome: 'ignored' });
  });

  it.each([
    [10_000, 5_000],
    [10 * ignoreAfterMs, ignoreAfterMs],
  ])(
    'in a newer format goes back after %d ms for %d ms, and onStoreError is told',
    async (waitedMs, delayMs) => {
      const error = new StoreError('newer_format', 'The order is newer.');
      const { result, onStoreError } = await attempt({ waitedMs, handle: failing(error) });
      expect(result).toEqual({ outcome: 'put-back', delayMs });
      expect(onStoreError).toHaveBeenCalledExactlyOnceWith(error);
    },
  );
});

function markingThat(given: { isAsked: boolean; isThere?: () => Promise<boolean> }): Marking {
  return { mark: async () => {}, isThere: async () => true, ...given };
}

describe('a handler that marks its delivery in its own transaction', () => {
  const error = new Error('after the commit');

  it('has handled it when the transaction was committed, also if it throws after that', async () => {
    const marking = markingThat({ isAsked: true });
    expect((await attempt({ marking })).result).toMatchObject({ outcome: 'handled' });
    const late = await attempt({ marking, handle: failing(error) });
    expect(late.result).toMatchObject({ outcome: 'handled', error, attempt: 1, waitedMs: 0 });
  });

  it.each([
    ['was not committed', async () => false, { code: 'not_committed' }],
    ['cannot be looked up', () => Promise.reject(new Error('down')), { message: 'down' }],
  ])('has failed when the transaction %s, and learns of it', async (_, isThere, learnt) => {
    const marking = markingThat({ isAsked: true, isThere });
    const { result } = await attempt({ marking });
    expect(result).toMatchObject({ outcome: 'failed', error: learnt });
    const thrown = await attempt({ marking, handle: failing(error) });
    expect(thrown.result).toMatchObject({ outcome: 'failed', error });
  });
});

it('the clock of a lease follows the wall clock when it jumps ahead, and does not go back with it', () => {
  let wall = receivedAt;
  const elapsedMs = startLeaseClock({ now: () => wall });
  wall += 60_000;
  expect(elapsedMs()).toBe(60_000);
  wall -= 86_400_000;
  expect(elapsedMs()).toBeGreaterThanOrEqual(0);
  expect(elapsedMs()).toBeLessThan(60_000);
});
