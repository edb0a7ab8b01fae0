import type { BuyOrder } from '../deployment/order-schema.ts';
import { type Sleep, sleep } from '../internal/backoff.ts';
import { describeError } from '../internal/driver-error.ts';
import { callback, defineOptions, integer, type OptionTable, timerMs } from '../internal/options.ts';
import { quotedName } from '../internal/printable-text.ts';
import { warn, warnOnce } from '../internal/warn.ts';
import type { JournaledOrder } from './journaled-order.ts';

/** Options of `start` of an order journal. */
export interface OrderLoopOptions<Order = BuyOrder> {
  /**
   * Reads the order from your tables, as it was given to `prepare` or `create`: the journal keeps no payload. If it
   * throws, or gives another payload (`different_order`), `onError` is called, and it is asked again after a while.
   */
  load: (order: JournaledOrder) => Order | Promise<Order>;
  /** Milliseconds between two looks at the journal. @default 1000 */
  everyMs?: number | undefined;
  /**
   * Milliseconds after a caller last asked for an order (`prepare`, `create`) in which the loop sends it: its
   * price goes stale. Then it goes to `onUnknown`. @default 900000, a quarter of an hour
   */
  maxAgeMs?: number | undefined;
  /**
   * Milliseconds in which an event may settle an order that has become `unknown`. Then it goes to `onUnknown`.
   * @default 60000, a minute
   */
  evidenceWithinMs?: number | undefined;
  /**
   * Called for an order that needs a person: `outcome_unknown` means that the service may have it and no event came
   * within `evidenceWithinMs`, `too_old` that it was not sent within `maxAgeMs` and is not sent any more. Called once;
   * again if it fails, or if its process dies meanwhile. @default a process warning for each order
   */
  onUnknown?: ((order: JournaledOrder, reason: 'outcome_unknown' | 'too_old') => unknown) | undefined;
  /**
   * Called for everything that fails in the loop: a request, `load`, another hook, or the store (then without an order).
   * Nothing waits for it. @default one process warning for each message
   */
  onError?: ((error: unknown, order?: JournaledOrder) => unknown) | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

/** A loop that `start` of an order journal has started. */
export interface OrderLoop {
  /** Resolves when the loop has ended, and the requests and hooks that it began: it waits for them. */
  stop(): Promise<void>;
}

export const readLoopOptions = defineOptions('start', {
  load: callback(),
  everyMs: timerMs({ default: 1_000 }),
  maxAgeMs: integer({ default: 900_000 }),
  evidenceWithinMs: integer({ default: 60_000, least: 0 }),
  onUnknown: callback({
    default: ({ partner_order_id }, reason) =>
      warn(`Order ${quotedName(partner_order_id)} needs a person: ${reasons[reason]}.`),
  }),
  onError: callback<NonNullable<OrderLoopOptions['onError']>>({
    default: (error) =>
      warnOnce(`The loop of an order journal goes on after an error: ${describeError(error)}`),
  }),
  sleep: callback({ default: sleep }),
} satisfies OptionTable<OrderLoopOptions<never>>);

const reasons = {
  outcome_unknown: 'it was sent, and nothing tells whether the service has it',
  too_old: 'it was not sent in time (maxAgeMs), and is not sent any more',
} as const;
