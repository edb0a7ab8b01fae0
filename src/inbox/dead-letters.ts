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
  /** The body as received, signature included; only with `withBody`. It holds personal data. */
  readonly body?: string;
}

/** How to read one dead letter. */
export interface DeadLetterReadOptions {
  /** Whether to add the body, which holds personal data. @default false */
  readonly withBody?: boolean | undefined;
}

/** Which dead letters to list, and whether with their bodies. */
export interface DeadLetterOptions extends DeadLetterReadOptions {
  /** How many to list; no more are read from the store. @default 100 */
  readonly limit?: number | undefined;
}

const readRows = { withBody: flag({ default: false }) } satisfies OptionTable<DeadLetterReadOptions>;

const queryRows = { limit: integer({ default: 100 }), ...readRows } satisfies OptionTable<DeadLetterOptions>;

/** @throws {ConfigurationError} `invalid_option` */
export const readDeadLetterQuery = defineOptions('deadLetters', queryRows);
export type DeadLetterQuery = Settings<typeof queryRows>;

/** @throws {ConfigurationError} `invalid_option` */
export const readDeadLetterRead = defineOptions('deadLetter', readRows);
export type DeadLetterRead = Settings<typeof readRows>;

/** Adds the body if it is asked for. */
export function toDeadLetter(
  { digest, name, body }: Required<Pick<DeadLetter, 'digest' | 'name' | 'body'>>,
  { attempts, receivedAt, reason }: Pick<DeadLetter, 'attempts' | 'receivedAt' | 'reason'>,
  { withBody }: DeadLetterRead,
): DeadLetter {
  return { digest, name, attempts, receivedAt, reason, ...(withBody && { body }) };
}
