import type { DeadLetterOptions } from './dead-letter-options.ts';
import type { Inbox } from './inbox.ts';

/** An inbox with dead letters, which can be stopped. */
export interface ManagedInbox extends Inbox {
  /**
   * Deliveries that are not tried any more, unless they are replayed: the oldest first.
   * @throws {ConfigurationError} `invalid_option`
   */
  deadLetters(options?: DeadLetterOptions): Promise<DeadLetter[]>;
  /**
   * Has a dead letter tried again, with all its attempts. Resolves with false when there is none of this digest.
   * A durable inbox handles it soon after; the memory before it resolves, and rejects when that fails (false also
   * while a repetition is being handled).
   */
  replay(digest: string): Promise<boolean>;
  /** Forgets a dead letter for good; its digest stays remembered. False when there is none of this digest. */
  discard(digest: string): Promise<boolean>;
  /** What is in the inbox now. */
  counts(): Promise<InboxCounts>;
  /**
   * Accepts nothing more (503), waits for the handlers that run, and lets go of the store. Handlers that are still
   * running after the time have their signal aborted; a durable inbox has their deliveries handled again. What is
   * asked of a durable inbox after it has stopped rejects with `inbox_stopped`.
   * @param options.timeoutMs @default 10000
   */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<'drained' | 'cut-off'>;
}

/** A delivery that failed at all its attempts. */
export interface DeadLetter {
  readonly digest: string;
  /** The `event_name`. */
  readonly name: string;
  readonly attempts: number;
  readonly receivedAt: Date;
  /**
   * What the last attempt failed with, cut to 500 characters. Credentials in addresses, queries and Authorization
   * headers are left out; what else a handler writes into its error is kept as it is.
   */
  readonly reason: string;
  /** As it was received, signature included: only with `withBody`. It holds personal data. */
  readonly body?: string;
}

export interface InboxCounts {
  /** Stored and not yet handled: waiting for its first attempt or the next, or being handled. */
  readonly open: number;
  readonly dead: number;
}
