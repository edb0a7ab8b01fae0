import { integer, invalidOption, nested, type OptionTable, timerMs } from '../../internal/options.ts';
import type { EventFaultName } from '../faults/faults.ts';

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

/** Headers of every event. */
export function eventHeaders(publicKey: string): Readonly<Record<string, string>> {
  return { 'content-type': 'application/json', authorization: `Bearer ${publicKey}` };
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

/** How often an event that was not acknowledged is posted again. */
export interface CallbackRetry {
  /** Times that an event is posted at most, the first included. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds on the sandbox's clock before it is posted again; doubled each time. @default 1000 */
  readonly firstDelayMs?: number | undefined;
  /** Milliseconds between two times at most. @default 60000 */
  readonly maxDelayMs?: number | undefined;
}

/** `none`: an event is posted once. */
export type CallbackRetryPolicy = 'none' | CallbackRetry;

/** Milliseconds until the next time, after this many; `undefined` for never again. */
export type RetryDelay = (attempts: number) => number | undefined;

/** @throws {ConfigurationError} `invalid_option` */
export function retryDelay(policy: CallbackRetryPolicy): RetryDelay {
  if (policy === 'none') return () => undefined;
  if (typeof policy !== 'object' || policy === null) {
    throw invalidOption("callbackRetry must be 'none' or an object with maxAttempts.");
  }
  const { maxAttempts, firstDelayMs, maxDelayMs } = retryRows.read('callbackRetry', policy);
  return (attempts) =>
    attempts >= maxAttempts
      ? undefined
      : Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempts - 1, 50));
}

const retryRows = nested({
  maxAttempts: integer({ default: 5 }),
  firstDelayMs: timerMs({ default: 1000 }),
  maxDelayMs: timerMs({ default: 60_000 }),
} satisfies OptionTable<CallbackRetry>);
