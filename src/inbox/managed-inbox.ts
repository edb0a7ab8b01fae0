import type { DeadLetterOptions, DeadLetterReadOptions } from './dead-letter-options.ts';
import type { Inbox } from './inbox.ts';

/** An inbox with dead letters that can be stopped. */
export interface ManagedInbox extends Inbox {
  /**
   * Deliveries that are not tried again unless they are replayed, oldest first.
   * @throws {ConfigurationError} `invalid_option`
   */
  deadLetters(options?: DeadLetterOptions): Promise<DeadLetter[]>;
  /**
   * The dead letter of this digest, read without the others; `undefined` if there is none.
   * @throws {ConfigurationError} `invalid_option`
   */
  deadLetter(digest: string, options?: DeadLetterReadOptions): Promise<DeadLetter | undefined>;
  /**
   * Tries a dead letter again, with all its attempts. Resolves with false if no dead letter has this digest. A durable
   * inbox handles it soon afterwards. The memory inbox handles it before this resolves, and this rejects if that fails
   * (false also while a repetition is being handled).
   * @throws {ConfigurationError} `invalid_option` from a durable inbox, for a digest that is no string
   */
  replay(digest: string): Promise<boolean>;
  /**
   * Drops a dead letter; its digest stays remembered. False if no dead letter has this digest.
   * @throws {ConfigurationError} `invalid_option` from a durable inbox, for a digest that is no string
   */
  discard(digest: string): Promise<boolean>;
  /** What is in the inbox now. */
  counts(): Promise<InboxCounts>;
  /**
   * Accepts nothing more (503), waits for running handlers, and releases the store. Handlers that still run after the
   * time are aborted; a durable inbox has their deliveries handled again. Afterwards every call to a durable inbox
   * rejects with `inbox_stopped`.
   * @param options.timeoutMs @default 10000
   */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<'drained' | 'cut-off'>;
}

/** A delivery that failed at every attempt. */
export interface DeadLetter {
  readonly digest: string;
  /** The `event_name`. */
  readonly name: string;
  readonly attempts: number;
  readonly receivedAt: Date;
  /**
   * The error of the last attempt, cut to 500 characters. Credentials in addresses, queries and Authorization headers
   * are left out; anything else that a handler puts into its error is kept.
   */
  readonly reason: string;
  /** The body as received, signature included; only with `withBody`. It holds personal data. */
  readonly body?: string;
}

export interface InboxCounts {
  /** Stored and not yet handled: waiting for an attempt, or being handled. */
  readonly open: number;
  readonly dead: number;
}
