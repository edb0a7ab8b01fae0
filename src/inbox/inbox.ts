import type { MatchedKey } from '../credentials/verification-keys.ts';

/** What identifies an authentic delivery. */
export interface DeliveryReference {
  /** The `event_name`, or an empty string if there is none. */
  readonly name: string;
  /**
   * 64 hex digits (SHA-256), the same for every repetition of a delivery, even with other white space or with the next
   * generation of keys. Made from its partner and the signed text, and, under schemes that sign joined values, from the
   * body as well.
   */
  readonly digest: string;
  readonly key: MatchedKey;
}

/** An authentic delivery on its way to its handler. */
export interface Delivery extends DeliveryReference {
  /** The body as received, signature included. Verifying it again gives the same delivery. */
  readonly body: string;
}

/**
 * Decides whether a delivery is new, and when it is handled. The default keeps digests in memory and handles before it
 * acknowledges, since memory does not survive a crash.
 */
export interface Inbox {
  /**
   * Who handles what is stored. With `receiver` another process does, so a receiver without handlers stores everything.
   * @default 'both'
   */
  readonly role?: 'both' | 'receiver';
  /**
   * Accepts an authentic delivery. Resolves with `handled` after `handle` has resolved, `stored` once it is kept
   * durably, `duplicate` if it was one of these before, and `busy` while another worker has it. Rejects if `handle` or
   * the store fails, and the delivery may be sent again. An `InboxError` about the store is answered with 503, anything
   * else with 500.
   */
  receive(delivery: Delivery, handle: HandleDelivery): Promise<InboxResult>;
  /**
   * Called once by `createWebhooks`, before handlers are registered. An inbox that stores deliveries uses this host to
   * handle them, also those that a crash left behind.
   */
  attach?(host: InboxHost): void;
}

/** Runs the handlers. Their context has the signal, which is aborted to stop them. */
export type HandleDelivery = (options?: { readonly signal?: AbortSignal | undefined }) => Promise<void>;

/** What an inbox needs from the webhooks it belongs to. */
export interface InboxHost {
  /**
   * Parses and dispatches a delivery that was verified before it was stored. Its signature is not checked again, since
   * keys may have been rotated. Rejects if a handler fails, or with `no_handler` if there is none.
   */
  handle(delivery: Delivery, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Calls `onDelivery`, and `onError` for a failure. Never throws. */
  report(delivery: DeliveryReference, outcome: AttemptResult): void;
}

/** The result of one attempt to handle a stored delivery. */
export interface AttemptResult {
  /** `failed`: it will be tried again. `dead`: it will not, unless it is replayed. */
  readonly outcome: 'handled' | 'failed' | 'dead';
  /** From 1. */
  readonly attempt: number;
  /** How long the handlers ran; absent if their process died. */
  readonly durationMs?: number | undefined;
  /** Milliseconds from storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** Why it failed, for `onError`; absent if somebody else was told. */
  readonly error?: unknown;
}

/** What can happen to a delivery that an inbox receives. */
export const inboxResults = ['handled', 'stored', 'duplicate', 'busy'] as const;
export type InboxResult = (typeof inboxResults)[number];
