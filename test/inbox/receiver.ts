import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { type HandlingOptions, handlingRows } from '../../src/inbox/handling-options.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { defineOptions } from '../../src/internal/options.ts';
import type { EventContext } from '../../src/webhooks/handlers.ts';
import type { DeliveryReport, ReceiveOutcome } from '../../src/webhooks/receive-outcome.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, quietWebhooks } from '../webhooks/deliveries.ts';

export const order = (id: string, key?: string) => delivery(buyInitBody({ partner_order_id: id }), key);

/** Short waits. */
export const quick: HandlingOptions = {
  maxAttempts: 3,
  // A busy machine may stall for a second: no lease ends by that.
  timeLimitMs: 30_000,
  retry: { firstDelayMs: 10, maxDelayMs: 40 },
  concurrency: 4,
};

/** The options of a worker or a store that a test makes by itself, with their defaults. */
export const readHandling = defineOptions('the inbox', handlingRows);

const patience = { timeout: 15_000, interval: 20 } as const;
/** Waits until the assertion holds. */
export const eventually = (assertion: () => unknown) => vi.waitFor(assertion, patience);

/** Webhooks on an inbox, what their handler is called with, and how it behaves for an order. */
export function receiver(
  inbox: Inbox,
  behave: (orderId: string, context: EventContext) => unknown = () => {},
  options: WebhooksOptions = {},
) {
  const calls: string[] = [];
  const reports: DeliveryReport[] = [];
  const webhooks = quietWebhooks({ inbox, onDelivery: (report) => reports.push(report), ...options }).on(
    'event.buy.init',
    async (event, context) => {
      calls.push(event.partner_order_id);
      await behave(event.partner_order_id, context);
    },
  );
  /** As the service might do it: again, until it is acknowledged or has been told no often enough. */
  async function send(body: string): Promise<ReceiveOutcome> {
    for (let tries = 1; ; tries++) {
      const outcome = await webhooks.receive(body);
      if (outcome.status === 200 || tries === 10) return outcome;
      // real time: the service comes again a little later.
      await sleep(5);
    }
  }
  return { webhooks, calls, reports, send };
}
