import type { DeliveryReference } from './outcome.ts';

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
   * Takes an authentic delivery. Resolves with what became of it:
   * `handled` after `handle` has resolved, `stored` once it is kept durably, `duplicate` when it was one of these
   * before, `busy` while another worker holds it. Rejects when `handle` or the store fails: it may come again.
   */
  receive(delivery: Delivery, handle: () => Promise<void>): Promise<InboxResult>;
}

/** What may become of a delivery in an inbox. */
export const inboxResults = ['handled', 'stored', 'duplicate', 'busy'] as const;
export type InboxResult = (typeof inboxResults)[number];
