import type { EventFaultName } from '../faults/fault-table.ts';

/** An event and how its posting went: a snapshot. */
export interface SandboxDelivery {
  readonly id: string;
  /** `event_name`; one that is not published where the fault `unfamiliar_name` was played. */
  readonly name: string;
  readonly platform_order_ref: string;
  readonly partner_order_id: string;
  readonly url: string;
  /** The text as posted, signature included; the same each time it is posted. */
  readonly body: string;
  /** How often it was posted. */
  readonly attempts: number;
  /** Whether the last answer was one that counts as received: 2xx, unless `callbackReceived` says otherwise. */
  readonly acknowledged: boolean;
  /** HTTP status of the last answer; `undefined` if there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, e.g. `ECONNREFUSED` or `TimeoutError`. */
  readonly error: string | undefined;
  /** The faults that were played with it. One that is `forged` or `tampered` comes from nobody. */
  readonly faults: readonly EventFaultName[];
}

/** An event to post. */
export interface QueuedEvent
  extends Pick<
    SandboxDelivery,
    'name' | 'platform_order_ref' | 'partner_order_id' | 'url' | 'body' | 'faults'
  > {
  /** Sent as the bearer token (contract: Authentication 2). */
  readonly publicKey: string;
}

/** When and how often an event goes out; by default at once, after the earlier ones of its order, and once. */
export interface DeliverySchedule {
  /** Never. */
  readonly isDropped?: boolean;
  /** After the next event of its order. */
  readonly isHeld?: boolean;
  /** Later on the sandbox's clock. */
  readonly delayMs?: number | undefined;
  /** Twice: one after the other, or at once. */
  readonly copies?: 'duplicate' | 'concurrent_duplicate' | undefined;
}
