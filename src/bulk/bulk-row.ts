import type { RequestErrorCode } from '../errors/request-error.ts';

/** A message of a campaign, or a row that could not be read. */
export type BulkRow = BulkMessage | UnreadableRow;

export interface BulkMessage {
  /**
   * Names the row in its result, and again in a second run over the same rows.
   * @default its place among the rows, from 1
   */
  key?: string | undefined;
  /** A phone number as people write it; {@link BulkOptions.country} is the country of those without `+`. */
  to_phone: string;
  /** The text to send. */
  message: string;
}

/** What `readBulkCsv` makes of a line that is no message: it is reported as `invalid`, and the others go on. */
export interface UnreadableRow {
  key?: string | undefined;
  /** What is wrong with it, without its content. */
  invalid: string;
}

/**
 * - `sent`: the service accepted the message.
 * - `refused`: it answered that it did not; a second run does not ask again.
 * - `not_sent`: the message did not reach the service, or no device could send it; a second run tries again.
 * - `unknown`: the message may have been sent: the reply was lost, or a process died before it noted the reply.
 * - `duplicate`: another row of this campaign has the same number.
 * - `invalid`: the row has no valid number or no text.
 */
export type BulkState = 'sent' | 'refused' | 'not_sent' | 'unknown' | 'duplicate' | 'invalid';

/** What became of a row. Holds neither its number nor its text. */
export interface BulkResult {
  readonly key: string;
  readonly state: BulkState;
  /** How often this row was tried, in all runs of the campaign. */
  readonly attempts: number;
  /** Why it was not sent: the `code` of the request's error, or `invalid_input`. */
  readonly code?: RequestErrorCode | 'invalid_input';
  /** HTTP status of the reply, if it was refused with one. */
  readonly status?: number;
  /** What is wrong with an `invalid` row. */
  readonly problem?: string;
  /**
   * True when nothing was sent now: an earlier run, another process, or an earlier row with this key and this number had
   * found this out.
   */
  readonly replayed: boolean;
}
