import { onTestFinished, vi } from 'vitest';
import type { BuyOrder } from '../../src/deployment/order-schema.ts';
import type { OrderJournal } from '../../src/orders/journal-types.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import type { OrderLoopOptions } from '../../src/orders/loop-options.ts';
import { nextTurn } from '../support/next-turn.ts';
import { order } from './service.ts';

/** A loop that looks at the journal once for each call of `pass`, and then waits for what it began. */
export function loopOf(journal: OrderJournal, options: Partial<OrderLoopOptions> = {}) {
  const pauses: number[] = [];
  let next = Promise.withResolvers<void>();
  let paused = Promise.withResolvers<void>();
  const errors: unknown[] = [];
  const unknown: [string, string][] = [];
  const load = vi.fn(
    (known: JournaledOrder): BuyOrder => ({
      ...order,
      partner_order_id: known.partner_order_id,
    }),
  );
  const loop = journal.start({
    load,
    onError: (error) => errors.push(error),
    onUnknown: ({ partner_order_id }, reason) => unknown.push([partner_order_id, reason]),
    sleep: async (ms, signal) => {
      pauses.push(ms);
      paused.resolve();
      if (signal.aborted) return;
      signal.addEventListener('abort', () => next.resolve());
      await next.promise;
    },
    ...options,
  });
  onTestFinished(() => loop.stop());
  return {
    ...{ loop, pauses, errors, unknown, load },
    async pass() {
      await paused.promise;
      paused = Promise.withResolvers();
      next.resolve();
      next = Promise.withResolvers();
      await paused.promise;
    },
  };
}

/** Resolves when all has run that does not wait for the test. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}
