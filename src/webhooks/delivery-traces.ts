import { failureCode } from '../errors/errors.ts';
import { orderEventNames } from '../events/event-names.ts';
import type { OrderEventName } from '../events/order-event.ts';
import { isUnrecognizedError } from '../inbox/handling-attempt.ts';
import type { Delivery, HandleDelivery, HandleResult, HandlingOutcome } from '../inbox/inbox.ts';
import type { TracedWork } from '../internal/tracing.ts';
import { codeOfOutcome, type ReceiveOutcome } from './receive-outcome.ts';

/** What subscribers of `partner-exchange:delivery` get. */
interface DeliveryTrace {
  /** The trace context of the request; a subscriber may put its own here. Anybody can send one. */
  traceparent?: string | undefined;
  readonly event?: OrderEventName | 'other' | undefined;
  readonly outcome?: ReceiveOutcome['kind'];
  readonly status?: number;
  readonly code?: string | undefined;
}

export function deliveryTrace(traceparent: string | undefined): TracedWork<DeliveryTrace, ReceiveOutcome> {
  return {
    start: () => ({ traceparent }),
    result: (outcome) => {
      const { kind, status, name } = outcome;
      const event = name === undefined ? undefined : publishedName(name);
      return { event, outcome: kind, status, code: codeOfOutcome(outcome) };
    },
    failure: (error) => ({ code: failureCode(error) }),
  };
}

/** What subscribers of `partner-exchange:handle` get. */
interface HandleTrace {
  /** The trace context of the delivery, even if another process received it. */
  readonly traceparent: string | undefined;
  readonly event: OrderEventName | 'other';
  /** Of a stored delivery: the number of the attempt, from 1. */
  readonly attempt: number | undefined;
  readonly outcome?: Exclude<HandlingOutcome, 'dead'> | 'unrecognized';
  readonly code?: string;
}

export function handleTrace(
  { name, traceparent }: Delivery,
  options: Parameters<HandleDelivery>[0],
): TracedWork<HandleTrace, HandleResult> {
  return {
    start: () => ({ traceparent, event: publishedName(name), attempt: options?.attempt }),
    result: (outcome) => ({ outcome }),
    failure: (error) => ({
      outcome: isUnrecognizedError(error) ? 'unrecognized' : 'failed',
      code: failureCode(error),
    }),
  };
}

/** An authentic event may have any name, even one that says who the buyer is. */
function publishedName(name: string): OrderEventName | 'other' {
  return orderEventNames.find((known) => known === name) ?? 'other';
}
