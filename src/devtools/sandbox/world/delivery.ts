import type { EventFaultName } from '../settings/event-faults.ts';

/** A snapshot of an event and its posting. */
export interface SandboxDelivery {
  /** Unique in the sandbox. */
  readonly id: string;
  /** `event_name`: unpublished under the fault `unfamiliar_name`. */
  readonly name: string;
  /** The order's reference on the service. */
  readonly platform_order_ref: string;
  /** The order's id in the partner's system. */
  readonly partner_order_id: string;
  /** The order's callback URL. */
  readonly url: string;
  /** The posted text, signature included. A repetition posts the same text. */
  readonly body: string;
  /** How many times it was posted. */
  readonly attempts: number;
  /** When it was last posted, in milliseconds since 1970 on the sandbox's clock; `undefined` before. */
  readonly postedAt: number | undefined;
  /** Whether the last answer counts as received: 2xx (ledger: `callback-reply`). */
  readonly acknowledged: boolean;
  /** HTTP status of the last answer; `undefined` if there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, e.g. `ECONNREFUSED` or `TimeoutError`. */
  readonly error: string | undefined;
  /** The faults played with it. A `forged` or `tampered` event does not come from the service. */
  readonly faults: readonly EventFaultName[];
}

export interface QueuedEvent
  extends Pick<
    SandboxDelivery,
    'name' | 'platform_order_ref' | 'partner_order_id' | 'url' | 'body' | 'faults'
  > {
  /** Sent as the bearer token (contract: Authentication 2). */
  readonly publicKey: string;
}

export function eventHeaders(publicKey: string): Readonly<Record<string, string>> {
  return { 'content-type': 'application/json', authorization: `Bearer ${publicKey}` };
}

/** When and how often an event is posted. The default: once, after the earlier events of its order. */
export interface DeliverySchedule {
  readonly isDropped?: boolean;
  /** Posted after the next event of its order. */
  readonly isHeld?: boolean;
  readonly delayMs?: number | undefined;
  /** Posted twice: one after the other, or at once. */
  readonly copies?: 'duplicate' | 'concurrent_duplicate' | undefined;
}
