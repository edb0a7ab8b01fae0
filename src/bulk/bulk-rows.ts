import { isValidationError, type RequestErrorCode } from '../errors/errors.ts';
import { type AllowedPrefixes, hasAllowedPrefix, normalizePhone } from '../internal/phone.ts';

/** A message of a campaign, or a row that could not be read. */
export type BulkRow = BulkMessage | UnreadableRow;

/** A message to send. */
export interface BulkMessage {
  /**
   * Names the row in its result, and again in a second run over the same rows.
   * @default its position among the rows, from 1
   */
  key?: string | undefined;
  /** A phone number as people write it; {@link BulkOptions.country} is the country of those without `+`. */
  to_phone: string;
  /** The text to send. */
  message: string;
}

/** A line that `readBulkCsv` could not read: its result is `invalid`, and the other lines go on. */
export interface UnreadableRow {
  /** As in a {@link BulkMessage}. */
  key?: string | undefined;
  /** The fault of the line, without its content. */
  invalid: string;
}

/**
 * - `sent`: the service accepted the message.
 * - `refused`: it answered that it did not; a second run does not ask again.
 * - `not-sent`: the message did not reach the service, or no device could send it; a second run tries again.
 * - `unknown`: the message may have been sent: the reply was lost, or a process died before it stored the reply.
 * - `duplicate`: another row of this campaign has the same number.
 * - `invalid`: the row has no valid or allowed number, no text, or no value for a placeholder of the template.
 */
export type BulkState = 'sent' | 'refused' | 'not-sent' | 'unknown' | 'duplicate' | 'invalid';

/** The result of one row. Holds neither its number nor its text. */
export interface BulkResult {
  /** The row's `key`, or its position among the rows, from 1. */
  readonly key: string;
  /** The result of the row. */
  readonly state: BulkState;
  /** How often this row was tried, in all runs of the campaign. */
  readonly attempts: number;
  /** Why it was not sent: the `code` of the request's error, or `invalid_input`. */
  readonly code?: RequestErrorCode | 'invalid_input';
  /** HTTP status of the reply, if it was refused with one. */
  readonly status?: number;
  /** The fault of an `invalid` row. */
  readonly problem?: string;
  /** True when nothing was sent now: the result is that of an earlier run, another process, or an equal earlier row. */
  readonly replayed: boolean;
}

export type CheckedRow =
  | { readonly key: string; readonly to_phone: string; readonly message: string }
  | { readonly key: string; readonly problem: string };

/** Longer than any message that a messenger takes. */
const maxMessageLength = 65_536;

/** @param position of the row, from 1 */
export function checkRow(
  row: unknown,
  position: number,
  { country, allowedPrefixes }: { country: string | undefined; allowedPrefixes: AllowedPrefixes },
): CheckedRow {
  const {
    key: given,
    to_phone,
    message,
    invalid,
  }: Record<string, unknown> = typeof row === 'object' && row !== null ? { ...row } : {};
  const key = given === undefined ? String(position) : String(given);
  if (typeof invalid === 'string') return { key, problem: invalid };
  if (typeof to_phone !== 'string') return { key, problem: 'to_phone must be text' };
  if (typeof message !== 'string' || message.trim() === '') return { key, problem: 'message must be text' };
  if (message.length > maxMessageLength) return { key, problem: 'message is too long' };
  try {
    const phone = normalizePhone(to_phone, { country });
    if (hasAllowedPrefix(phone, allowedPrefixes)) return { key, to_phone: phone, message };
    return { key, problem: 'to_phone begins with none of allowedPrefixes' };
  } catch (error) {
    if (isValidationError(error)) return { key, problem: `to_phone ${error.issues[0]?.message}` };
    throw error;
  }
}

/** Hands rows to several workers, one after another. Positions count from 1. */
export function rowReader<Given, Row>(
  rows: Iterable<Given> | AsyncIterable<Given>,
  read: (row: Given, position: number) => Row,
) {
  let iterator: Iterator<Given> | AsyncIterator<Given> | undefined;
  let position = 0;
  let isOver = false;
  // Not every iterator may be asked again before it has answered.
  let last: Promise<unknown> = Promise.resolve();

  async function take(): Promise<Row | undefined> {
    if (isOver) return undefined;
    iterator ??= Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
    try {
      const { done, value } = await iterator.next();
      if (!done) return read(value, ++position);
      isOver = true;
      return undefined;
    } catch (error) {
      isOver = true;
      throw error;
    }
  }

  return {
    /** `undefined` at the end, or when the signal is aborted. Rejects when the rows do. */
    async next(signal: AbortSignal): Promise<Row | undefined> {
      const taken = last.then(take);
      last = taken.catch(() => {});
      // A source may wait for ever, such as a terminal.
      const { promise: aborted, resolve: abort } = Promise.withResolvers<undefined>();
      const onAbort = () => abort(undefined);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      try {
        return await Promise.race([taken, aborted]);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    /** Tells the source that nothing more is read. */
    close(): void {
      if (isOver) return;
      isOver = true;
      // Not awaited: a generator that waits for its own source answers only after that.
      void (async () => iterator?.return?.())().catch(() => {});
    },
  };
}
