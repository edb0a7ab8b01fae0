import { checkStandardSchema, type StandardSchema } from '../deployment/standard-schema.ts';
import { abortSignal, callback, type OptionTable, optional, timerMs } from '../internal/options.ts';

/** The schema of a reply's body, or none. */
export type ReplySchema = StandardSchema | undefined;

/** What a schema makes of a reply's body: without one it stays `unknown`. */
export type ReplyBody<Schema extends ReplySchema> =
  Schema extends StandardSchema<unknown, infer Body> ? Body : unknown;

/** Options of a single call. */
export interface CallOptions<Schema extends ReplySchema = ReplySchema> {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt. @default the client's `timeoutMs` */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds in which the request may still leave, such as the rest of a lease. It is asked immediately before each
   * attempt leaves: at 0 or below nothing does, and the call ends with code `timeout`. The call also takes no longer
   * than what was left when it began. @default no such limit
   */
  leftMs?: (() => number) | undefined;
  /** Checks the reply's body, and types it: any Standard Schema. Without one the body is `unknown`. */
  schema?: Schema | undefined;
}

export const callRows = {
  signal: abortSignal(),
  timeoutMs: optional(timerMs()),
  leftMs: optional(callback()),
  schema: optional(checkStandardSchema),
} satisfies OptionTable<CallOptions>;
