import type { MatchedKey } from '../credentials/key-ring.ts';

/** What an authentic delivery is known by. */
export interface DeliveryReference {
  /** The `event_name`, or an empty string where there is none. */
  readonly name: string;
  /**
   * 64 hex digits (SHA-256), the same for every repetition of a delivery, also with other white space or the next
   * generation of keys. Of its partner and of the signed text, and under schemes that sign joined values of the body
   * as well.
   */
  readonly digest: string;
  readonly key: MatchedKey;
}

/** An authentic delivery on its way to its handler. */
export interface Delivery extends DeliveryReference {
  /** The body as received, signature included: verifying it again gives the same delivery. */
  readonly body: string;
}

/**
 * Decides whether a delivery is new, and when it is handled. The default keeps digests in memory and handles
 * before it acknowledges, since memory does not survive a crash.
 */
export interface Inbox {
  /**
   * Who handles what is stored. `receiver`: another process does, so that a receiver without any handler stores
   * everything. @default 'both'
   */
  readonly role?: 'both' | 'receiver';
  /**
   * Takes an authentic delivery. Resolves with what became of it:
   * `handled` after `handle` has resolved, `stored` once it is kept durably, `duplicate` when it was one of these
   * before, `busy` while another worker holds it. Rejects when `handle` or the store fails: it may come again.
   * An `InboxError` about the store is answered with 503, anything else with 500.
   */
  receive(delivery: Delivery, handle: HandleDelivery): Promise<InboxResult>;
  /**
   * Called once by `createWebhooks`, before handlers are registered. An inbox that stores deliveries has them
   * handled by the host it is given, also those that a crash left behind.
   */
  attach?(host: InboxHost): void;
}

/** Runs the handlers. A handler that is cut off sees the signal in its context. */
export type HandleDelivery = (options?: { readonly signal?: AbortSignal | undefined }) => Promise<void>;

/** What an inbox needs of the webhooks it belongs to. */
export interface InboxHost {
  /**
   * Parses and dispatches a delivery that was verified before it was stored; its signature is not looked at again,
   * since keys may have been rotated. Rejects when a handler fails, or with `no_handler` when there is none.
   */
  handle(delivery: Delivery, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Tells `onDelivery`, and `onError` of a failure. Never throws. */
  report(delivery: DeliveryReference, outcome: AttemptResult): void;
}

/** What became of one attempt to handle a stored delivery. */
export interface AttemptResult {
  /** `failed`: it will be tried again. `dead`: it will not, unless it is replayed. */
  readonly outcome: 'handled' | 'failed' | 'dead';
  /** From 1. */
  readonly attempt: number;
  /** How long the handlers ran; absent when their process died. */
  readonly durationMs?: number | undefined;
  /** From its storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** Why it failed, for `onError`; absent for what somebody else was told of. */
  readonly error?: unknown;
}

/** What may become of a delivery in an inbox. */
export const inboxResults = ['handled', 'stored', 'duplicate', 'busy'] as const;
export type InboxResult = (typeof inboxResults)[number];
