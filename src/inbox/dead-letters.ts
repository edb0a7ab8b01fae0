import { defineOptions, flag, integer, type OptionTable, type Settings } from '../internal/options.ts';

/** A delivery that failed at every attempt, or that cannot be read. */
export interface DeadLetter {
  /** Identifies the delivery: `replay` and `discard` take it. */
  readonly digest: string;
  /** The `event_name`. */
  readonly name: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** When it was received. */
  readonly receivedAt: Date;
  /**
   * The error of the last attempt, cut to 500 characters. Credentials in addresses, queries and Authorization headers
   * are left out; anything else that a handler puts into its error is kept.
   */
  readonly reason: string;
  /** The body as received, signature included: from `deadLetter`, and with `withBody`. It holds personal data. */
  readonly body?: string;
}

/** Which dead letters to list, and whether with their bodies. */
export interface DeadLetterOptions {
  /** How many to list; no more are read from the store. @default 100 */
  readonly limit?: number | undefined;
  /** Whether to add the bodies, which hold personal data. @default false */
  readonly withBody?: boolean | undefined;
}

const rows = {
  limit: integer({ default: 100 }),
  withBody: flag({ default: false }),
} satisfies OptionTable<DeadLetterOptions>;

/** @throws {ConfigurationError} `invalid_option` */
export const readDeadLetterQuery = defineOptions('deadLetters', rows);
export type DeadLetterQuery = Settings<typeof rows>;

interface FailedDelivery extends Pick<DeadLetter, 'attempts' | 'reason'> {
  readonly delivery: Required<Pick<DeadLetter, 'digest' | 'name' | 'body'>>;
  readonly receivedAt: number;
}

export function toDeadLetter(
  { delivery: { digest, name, body }, attempts, receivedAt, reason }: FailedDelivery,
  withBody: boolean,
): DeadLetter {
  return { digest, name, attempts, receivedAt: new Date(receivedAt), reason, ...(withBody && { body }) };
}
